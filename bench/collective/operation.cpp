#include "collective/operation.h"

namespace thinwire::bench {

std::int64_t size_of(tw_dtype dtype) {
  if (dtype == TW_F64) return 8;
  return dtype == TW_F32 ? 4 : 2;
}

MPI_Datatype mpi_type(tw_dtype dtype) {
  if (dtype == TW_F32) return MPI_FLOAT;
  return dtype == TW_F64 ? MPI_DOUBLE : MPI_DATATYPE_NULL;
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

void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive) {
  // What has no type of its own is moved as bytes.
  const bool typed = mpi_type(dtype) != MPI_DATATYPE_NULL;
  const MPI_Datatype type = typed ? mpi_type(dtype) : MPI_BYTE;
  const int n = static_cast<int>(typed ? count : count * size_of(dtype));
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (operation) {
    case TW_BCAST:
      MPI_Bcast(receive, n, type, group.root, world);
      return;
    case TW_ALLGATHER:
      MPI_Allgather(send, n, type, receive, n, type, world);
      return;
    case TW_GATHER:
      MPI_Gather(send, n, type, receive, n, type, group.root, world);
      return;
    case TW_SCATTER:
      MPI_Scatter(send, n, type, receive, n, type, group.root, world);
      return;
    case TW_ALLTOALL:
      MPI_Alltoall(send, n, type, receive, n, type, world);
      return;
    case TW_REDUCE:
      MPI_Reduce(send, receive, n, type, MPI_SUM, group.root, world);
      return;
    case TW_ALLREDUCE:
      MPI_Allreduce(send, receive, n, type, MPI_SUM, world);
      return;
    case TW_REDUCE_SCATTER:
      MPI_Reduce_scatter_block(send, receive, n, type, MPI_SUM, world);
      return;
  }
}

}  // namespace thinwire::bench
