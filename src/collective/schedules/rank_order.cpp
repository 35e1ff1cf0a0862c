// Sums in the order of the ranks: every rank sends each owner its part of that one's block; owners
// add up what comes from rank 0, 1, 2 and so on, their own part in its place, whatever arrives
// first. So a sum's bits depend on the values and the ranks alone.
//
// What comes is held until it is its turn: a packet a rank, together no more than an array.
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {
namespace {

// Packets going out come first among the slots, then one from each rank.
constexpr std::uint32_t kFirstIn = kDirectSlots;

std::uint32_t own_of(const Topology& topology) { return static_cast<std::uint32_t>(topology.rank); }

std::uint32_t slot_of(int rank) { return kFirstIn + static_cast<std::uint32_t>(rank); }

// The slot of a packet that leaves when sums are complete.
std::uint32_t slot_of_sum(const Topology& topology) { return slot_of(topology.size); }

bool is_neighbour(const Topology& topology, int rank) {
  return topology.node(rank) == topology.node(topology.rank);
}

// Leaves the sum of this rank's own block in scratch 0: the input may be where the output is.
void add_in_order(std::vector<Step>& steps, const Topology& topology) {
  Rotation out(0, kDirectSlots);
  const auto own = own_of(topology);
  for (int away = 1; away < topology.size; ++away) {
    const int to = (topology.rank + away) % topology.size;
    const int from = (topology.rank - away + topology.size) % topology.size;
    const auto going = out.take();
    Step coding = encode(static_cast<std::uint32_t>(to), Area::kInput, going);
    coding.is_raw = is_neighbour(topology, to);
    steps.push_back(coding);
    steps.push_back(send(static_cast<std::uint32_t>(to), going, to));
    steps.push_back(receive(own, slot_of(from), from));
  }
  for (int rank = 0; rank < topology.size; ++rank) {
    const bool is_first = rank == 0;
    if (rank == topology.rank) {
      steps.push_back(is_first ? copy(own, Area::kScratch, Area::kInput)
                               : combine(own, Area::kScratch, Area::kInput));
    } else {
      steps.push_back(is_first ? decode(own, Area::kScratch, slot_of(rank))
                               : reduce(own, Area::kScratch, slot_of(rank)));
    }
  }
}

Schedule assembled(const Topology& topology, std::vector<Step> steps) {
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

// One rank has its values already.
Schedule alone(const Topology& topology) {
  return assembled(topology, {copy(0, Area::kOutput, Area::kInput)});
}

}  // namespace

Schedule reduce_scatter_in_rank_order(const Topology& topology) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_in_order(steps, topology);
  steps.push_back(copy(own_of(topology), Area::kOutput, Area::kScratch));
  return assembled(topology, std::move(steps));
}

Schedule allreduce_in_rank_order(const Topology& topology) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_in_order(steps, topology);
  steps.push_back(copy(own_of(topology), Area::kOutput, Area::kScratch));
  Rotation in(slot_of_sum(topology) + 1, kDirectSlots);
  give_to_all(steps, Nodes::flat(topology), 0, Area::kOutput, slot_of_sum(topology), in);
  return assembled(topology, std::move(steps));
}

Schedule reduce_in_rank_order(const Topology& topology) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_in_order(steps, topology);
  const auto own = own_of(topology);
  if (topology.rank != topology.root) {
    Step coding = encode(own, Area::kScratch, slot_of_sum(topology));
    coding.is_raw = is_neighbour(topology, topology.root);
    steps.push_back(coding);
    steps.push_back(send(own, slot_of_sum(topology), topology.root));
    return assembled(topology, std::move(steps));
  }
  steps.push_back(copy(own, Area::kOutput, Area::kScratch));
  Rotation in(slot_of_sum(topology), kDirectSlots);
  for (int away = 1; away < topology.size; ++away) {
    const int rank = (topology.root + away) % topology.size;
    const auto slot = in.take();
    steps.push_back(receive(static_cast<std::uint32_t>(rank), slot, rank));
    steps.push_back(decode(static_cast<std::uint32_t>(rank), Area::kOutput, slot));
  }
  return assembled(topology, std::move(steps));
}

}  // namespace thinwire::collective
