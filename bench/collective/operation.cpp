#include "collective/operation.h"

namespace thinwire::bench {

std::int64_t size_of(tw_dtype dtype) {
  if (dtype == TW_F64) return 8;
  return dtype == TW_F32 ? 4 : 2;
}

std::int64_t sent_count(tw_operation operation, const Group& group, std::int64_t count) {
  switch (operation) {
    case TW_BCAST:
      return 0;
    case TW_SCATTER:
      return group.is_root() ? count * group.size : 0;
    case TW_ALLTOALL:
    case TW_REDUCE_SCATTER:
      return count * group.size;
    default:
      return count;
  }
}

std::int64_t received_count(tw_operation operation, const Group& group, std::int64_t count) {
  switch (operation) {
    case TW_ALLGATHER:
    case TW_ALLTOALL:
      return count * group.size;
    case TW_GATHER:
      return group.is_root() ? count * group.size : 0;
    case TW_REDUCE:
      return group.is_root() ? count : 0;
    default:
      return count;
  }
}

std::int64_t first_sent(tw_operation operation, const Group& group, std::int64_t count) {
  if (operation == TW_ALLGATHER || operation == TW_GATHER) return count * group.rank;
  if (operation == TW_ALLTOALL) return count * group.size * group.rank;
  return 0;
}

std::int64_t first_received(tw_operation operation, const Group& group, std::int64_t count,
                            std::int64_t block) {
  if (operation == TW_SCATTER || operation == TW_REDUCE_SCATTER) return count * group.rank;
  if (operation == TW_ALLTOALL) return count * (group.size * block + group.rank);
  return count * block;
}

}  // namespace thinwire::bench
