// Allgather in as many rounds as the number of ranks can be halved: in each a rank passes on what
// it has so far. Every packet is kept until the end, in a slot of its own.
#include <algorithm>
#include <bit>

#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

// Blocks from one number on, which wraps around.
struct Blocks {
  int first;
  int count;
};

class Gathering {
 public:
  explicit Gathering(const Topology& topology) : rank_(topology.rank), size_(topology.size) {}

  // Slots are counted from the own block on.
  void exchange(int to, Blocks going, int from, Blocks coming) {
    if (!begun_) steps_.push_back(encode(block(rank_), Area::kInput, slot(rank_)));
    for (int i = going.first; i < going.first + going.count; ++i) {
      steps_.push_back(send(block(i), slot(i), to));
    }
    if (!begun_) steps_.push_back(decode(block(rank_), Area::kOutput, slot(rank_)));
    begun_ = true;
    for (int i = coming.first; i < coming.first + coming.count; ++i) {
      steps_.push_back(receive(block(i), slot(i), from));
      steps_.push_back(decode(block(i), Area::kOutput, slot(i)));
    }
  }

  Schedule finish() {
    if (!begun_) steps_.push_back(copy(block(rank_), Area::kOutput, Area::kInput));
    return assemble(static_cast<std::uint32_t>(size_), std::move(steps_));
  }

 private:
  std::uint32_t block(int number) const { return static_cast<std::uint32_t>(number % size_); }
  std::uint32_t slot(int number) const {
    return static_cast<std::uint32_t>((number + size_ - rank_) % size_);
  }

  int rank_;
  int size_;
  bool begun_ = false;
  std::vector<Step> steps_;
};

}  // namespace

Schedule allgather_bruck(const Topology& topology) {
  const int rank = topology.rank;
  const int size = topology.size;
  Gathering gathering(topology);
  for (int reach = 1; reach < size; reach *= 2) {
    const int count = std::min(reach, size - reach);
    gathering.exchange((rank + size - reach) % size, {rank, count}, (rank + reach) % size,
                       {rank + reach, count});
  }
  return gathering.finish();
}

// Uses Bruck's for sizes that are no power of two; it takes as many rounds as a fold would.
Schedule allgather_recursive_doubling(const Topology& topology) {
  if (!std::has_single_bit(static_cast<unsigned>(topology.size))) return allgather_bruck(topology);
  Gathering gathering(topology);
  for (int reach = 1; reach < topology.size; reach *= 2) {
    const int peer = topology.rank ^ reach;
    gathering.exchange(peer, {topology.rank & -reach, reach}, peer, {peer & -reach, reach});
  }
  return gathering.finish();
}

}  // namespace thinwire::collective
