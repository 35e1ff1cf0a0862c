// Communicators that have ended, of which nothing but their figures is needed any more.
#pragma once

#include "process/counters.h"

namespace thinwire::nccl {

// The latest ones are kept each by itself, some 8 KiB each; the figures of earlier ones together.
constexpr std::size_t kMostEnded = 256;

// Whether nobody refers to one that its program has ended in order: neither what its streams have,
// nor the service thread. One that was aborted or has failed is kept: threads may still be in it.
bool is_free(const Communicator& ended);

// Its figures count with those of `all`.
void add_figures(Communicator& all, const Communicator& ended);

void destroy(Communicator* ended);

}  // namespace thinwire::nccl
