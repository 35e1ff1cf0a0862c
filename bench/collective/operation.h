// Data that each operation moves.
#pragma once

#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::bench {

struct Group {
  int rank = 0;
  int size = 1;
  int root = 0;

  bool is_root() const { return rank == root; }
};

inline bool is_reduction(tw_operation operation) {
  return operation == TW_REDUCE || operation == TW_ALLREDUCE || operation == TW_REDUCE_SCATTER;
}

// Whether this rank is one of those that must end with the same values: of a broadcast those that
// receive, as the root keeps its own.
inline bool gets_shared(tw_operation operation, const Group& group) {
  if (operation == TW_BCAST) return !group.is_root();
  return operation == TW_ALLGATHER || operation == TW_ALLREDUCE;
}

std::int64_t size_of(tw_dtype dtype);

// Elements of this rank's buffers. `count` is of the array, or of one rank's block. Bcast has the
// receive buffer alone.
std::int64_t sent_count(tw_operation operation, const Group& group, std::int64_t count);
std::int64_t received_count(tw_operation operation, const Group& group, std::int64_t count);

// Which value of the data is first in this rank's send buffer, and in its receive buffer's block
// `block` of `count` elements; of a reduction, which values are reduced.
std::int64_t first_sent(tw_operation operation, const Group& group, std::int64_t count);
std::int64_t first_received(tw_operation operation, const Group& group, std::int64_t count,
                            std::int64_t block);

}  // namespace thinwire::bench
