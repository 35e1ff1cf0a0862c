#include "collective/nodes.h"

#include <algorithm>

namespace thinwire::bench {

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
