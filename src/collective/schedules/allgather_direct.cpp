// Every rank sends its block to each of the others.
#include "collective/schedules/direct.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

Schedule allgather_direct(const Topology& topology) {
  const auto nodes = Nodes::flat(topology);
  const auto own = static_cast<std::uint32_t>(topology.rank);
  std::vector<Step> steps;
  if (nodes.count() == 1) {
    steps.push_back(copy(own, Area::kOutput, Area::kInput));
  } else {
    Rotation in(1, kDirectSlots);
    give_to_all(steps, nodes, 0, Area::kInput, 0, in);
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace thinwire::collective
