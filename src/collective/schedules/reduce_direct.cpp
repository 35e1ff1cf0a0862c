// Every rank sends each owner its part of that one's block; owners add up in a fixed order and keep
// the sum, or send it to the root.
#include "collective/schedules/direct.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

std::uint32_t count_of(const Topology& topology) {
  return static_cast<std::uint32_t>(topology.size);
}

// Leaves the sum of this rank's own block in `sum`.
void add_up(std::vector<Step>& steps, const Topology& topology, Area sum, Rotation& in) {
  Rotation out(0, kDirectSlots);
  steps.push_back(copy(static_cast<std::uint32_t>(topology.rank), sum, Area::kInput));
  add_at_owners(steps, Nodes::flat(topology), 0, Area::kInput, sum, out, in);
}

}  // namespace

Schedule reduce_scatter_direct(const Topology& topology) {
  std::vector<Step> steps;
  Rotation in(kDirectSlots, kDirectSlots);
  add_up(steps, topology, Area::kOutput, in);
  return assemble(count_of(topology), std::move(steps));
}

Schedule reduce_direct(const Topology& topology) {
  std::vector<Step> steps;
  Rotation in(kDirectSlots, kDirectSlots);
  if (topology.rank != topology.root) {
    constexpr std::uint32_t kSlot = 2 * kDirectSlots;
    const auto own = static_cast<std::uint32_t>(topology.rank);
    add_up(steps, topology, Area::kScratch, in);
    steps.push_back(encode(own, Area::kScratch, kSlot));
    steps.push_back(send(own, kSlot, topology.root));
  } else {
    add_up(steps, topology, Area::kOutput, in);
    for (int away = 1; away < topology.size; ++away) {
      const int rank = (topology.root + away) % topology.size;
      const auto slot = in.take();
      steps.push_back(receive(static_cast<std::uint32_t>(rank), slot, rank));
      steps.push_back(decode(static_cast<std::uint32_t>(rank), Area::kOutput, slot));
    }
  }
  return assemble(count_of(topology), std::move(steps));
}

}  // namespace thinwire::collective
