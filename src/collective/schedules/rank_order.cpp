// Sums in the order of the ranks: every rank sends each owner its part of that one's block; owners
// add up what comes from rank 0, 1, 2 and so on, their own part in its place, whatever arrives
// first. So a sum's bits depend on the values and the ranks alone.
//
// What comes is held until it is its turn: a packet a rank, together no more than an array. Exact
// sums hold the values of all ranks instead, and add them in one step.
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {
namespace {

enum class Sums : bool { kInOrder, kExact };

// Packets going out come first among the slots, then one from each rank; of exact sums a few that
// come are decoded at once.
constexpr std::uint32_t kFirstIn = kDirectSlots;

std::uint32_t own_of(const Topology& topology) { return static_cast<std::uint32_t>(topology.rank); }

std::uint32_t slot_of(int rank) { return kFirstIn + static_cast<std::uint32_t>(rank); }

// The slot of a packet that leaves when sums are complete.
std::uint32_t slot_of_sum(const Topology& topology, Sums sums) {
  return sums == Sums::kExact ? kFirstIn + kDirectSlots : slot_of(topology.size);
}

bool is_neighbour(const Topology& topology, int rank) {
  return topology.node(rank) == topology.node(topology.rank);
}

// Adds up what has come of this rank's own block, in scratch 0.
void add_in_order(std::vector<Step>& steps, const Topology& topology) {
  const auto own = own_of(topology);
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

// Leaves the sum of this rank's own block in scratch 0: the input may be where the output is.
void add_at_owner(std::vector<Step>& steps, const Topology& topology, Sums sums) {
  const bool is_exact = sums == Sums::kExact;
  Rotation out(0, kDirectSlots), in(kFirstIn, kDirectSlots);
  const auto own = own_of(topology);
  for (int away = 1; away < topology.size; ++away) {
    const int to = (topology.rank + away) % topology.size;
    const int from = (topology.rank - away + topology.size) % topology.size;
    const auto going = out.take();
    Step coding = encode(static_cast<std::uint32_t>(to), Area::kInput, going);
    coding.is_raw = is_neighbour(topology, to);
    steps.push_back(coding);
    steps.push_back(send(static_cast<std::uint32_t>(to), going, to));
    const auto coming = is_exact ? in.take() : slot_of(from);
    steps.push_back(receive(own, coming, from));
    if (!is_exact) continue;
    steps.push_back(decode(own, Area::kScratch, coming, static_cast<std::uint32_t>(from)));
  }
  if (!is_exact) return add_in_order(steps, topology);
  steps.push_back(copy(own, Area::kScratch, Area::kInput, own));
  steps.push_back(add_exactly(own));
}

Schedule assembled(const Topology& topology, std::vector<Step> steps) {
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

// One rank has its values already.
Schedule alone(const Topology& topology) {
  return assembled(topology, {copy(0, Area::kOutput, Area::kInput)});
}

Schedule reduce_scatter(const Topology& topology, Sums sums) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_at_owner(steps, topology, sums);
  steps.push_back(copy(own_of(topology), Area::kOutput, Area::kScratch));
  return assembled(topology, std::move(steps));
}

Schedule allreduce(const Topology& topology, Sums sums) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_at_owner(steps, topology, sums);
  steps.push_back(copy(own_of(topology), Area::kOutput, Area::kScratch));
  Rotation in(slot_of_sum(topology, sums) + 1, kDirectSlots);
  give_to_all(steps, Nodes::flat(topology), 0, Area::kOutput, slot_of_sum(topology, sums), in);
  return assembled(topology, std::move(steps));
}

Schedule reduce(const Topology& topology, Sums sums) {
  if (topology.size == 1) return alone(topology);
  std::vector<Step> steps;
  add_at_owner(steps, topology, sums);
  const auto own = own_of(topology);
  if (topology.rank != topology.root) {
    Step coding = encode(own, Area::kScratch, slot_of_sum(topology, sums));
    coding.is_raw = is_neighbour(topology, topology.root);
    steps.push_back(coding);
    steps.push_back(send(own, slot_of_sum(topology, sums), topology.root));
    return assembled(topology, std::move(steps));
  }
  steps.push_back(copy(own, Area::kOutput, Area::kScratch));
  Rotation in(slot_of_sum(topology, sums), kDirectSlots);
  for (int away = 1; away < topology.size; ++away) {
    const int rank = (topology.root + away) % topology.size;
    const auto slot = in.take();
    steps.push_back(receive(static_cast<std::uint32_t>(rank), slot, rank));
    steps.push_back(decode(static_cast<std::uint32_t>(rank), Area::kOutput, slot));
  }
  return assembled(topology, std::move(steps));
}

}  // namespace

Schedule reduce_scatter_in_rank_order(const Topology& topology) {
  return reduce_scatter(topology, Sums::kInOrder);
}
Schedule allreduce_in_rank_order(const Topology& topology) {
  return allreduce(topology, Sums::kInOrder);
}
Schedule reduce_in_rank_order(const Topology& topology) { return reduce(topology, Sums::kInOrder); }
Schedule reduce_scatter_exactly(const Topology& topology) {
  return reduce_scatter(topology, Sums::kExact);
}
Schedule allreduce_exactly(const Topology& topology) { return allreduce(topology, Sums::kExact); }
Schedule reduce_exactly(const Topology& topology) { return reduce(topology, Sums::kExact); }

}  // namespace thinwire::collective
