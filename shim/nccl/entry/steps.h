// The order in which the calls of a group are carried out, the same for all ends of each.
#pragma once

#include <span>

#include "run/enqueue.h"

namespace thinwire::nccl {

// As NCCL has it: of each communicator the collectives, then what it makes messages of, each in the
// program's order; the parts of a call one after the other. Communicators that have a stream in
// common follow each other in the order of their first calls, with all exchanges of each; others
// share steps.
Rest in_steps(std::span<const Planned> coded, std::span<const KeptRaw> raw);

// Whether a communicator's streams in the group are captured into more than one graph, some of them
// alone, or one of them unclearly: NCCL refuses such a group before anything of it is carried out.
bool has_mixed_captures(std::span<const Planned> coded, std::span<const KeptRaw> raw);

}  // namespace thinwire::nccl
