#include "collective/native.h"

#include <algorithm>

#include "collective/numbers.h"

namespace thinwire::bench {
namespace {

// 16-bit floats are words to MPI.
MPI_Datatype mpi_type(tw_dtype dtype) {
  if (dtype == TW_F32) return MPI_FLOAT;
  return dtype == TW_F64 ? MPI_DOUBLE : MPI_UINT16_T;
}

// Adds in fp32 and rounds once, as the library does (decision 0014).
template <tw_dtype kDtype>
void add_narrow(void* from, void* into, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const char*>(from);
  auto* right = static_cast<char*>(into);
  for (int at = 0; at < *count; ++at, left += 2, right += 2) {
    const auto sum = static_cast<float>(number_at(kDtype, left) + number_at(kDtype, right));
    put_number(kDtype, sum, right);
  }
}

// MPI has no sums of 16-bit floats: an operation of the program's own is its native way.
MPI_Op sum_of(tw_dtype dtype) {
  if (dtype == TW_F32 || dtype == TW_F64) return MPI_SUM;
  static MPI_Op made[2] = {MPI_OP_NULL, MPI_OP_NULL};
  MPI_Op& op = made[dtype == TW_F16 ? 0 : 1];
  if (op == MPI_OP_NULL) {
    MPI_Op_create(dtype == TW_F16 ? add_narrow<TW_F16> : add_narrow<TW_BF16>, 1, &op);
  }
  return op;
}

}  // namespace

void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive) {
  const MPI_Datatype type = mpi_type(dtype);
  const int n = static_cast<int>(count);
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
      MPI_Reduce(send, receive, n, type, sum_of(dtype), group.root, world);
      return;
    case TW_ALLREDUCE:
      MPI_Allreduce(send, receive, n, type, sum_of(dtype), world);
      return;
    case TW_REDUCE_SCATTER:
      MPI_Reduce_scatter_block(send, receive, n, type, sum_of(dtype), world);
      return;
  }
}

Nodes::Nodes(std::int64_t filler)
    : sent_(static_cast<std::size_t>(filler)), received_(static_cast<std::size_t>(filler)) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local_rank_);
  std::int32_t leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT32_T, 0, node);
  MPI_Comm_free(&node);
  of_ranks_.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&leader, 1, MPI_INT32_T, of_ranks_.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);
  count_ = 0;
  for (int i = 0; i < size; ++i) count_ += of_ranks_[i] == i ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, leader == rank ? 0 : MPI_UNDEFINED, rank, &leaders_);
}

Nodes::~Nodes() {
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

void Nodes::fill() {
  if (leaders_ != MPI_COMM_NULL && count_ > 1 && !sent_.empty()) {
    int place = 0;
    MPI_Comm_rank(leaders_, &place);
    const auto bytes = static_cast<int>(sent_.size());
    MPI_Sendrecv(sent_.data(), bytes, MPI_BYTE, (place + 1) % count_, 0, received_.data(), bytes,
                 MPI_BYTE, (place + count_ - 1) % count_, 0, leaders_, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace thinwire::bench
