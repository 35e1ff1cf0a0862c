// Every rank sends each owner its part of that one's block; owners add up in a fixed order, encode
// the sum once and send it to all. Inside a node values are added before and spread after.
#include "collective/schedules/direct.h"
#include "collective/schedules/inside.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kInsideScratch = 4;

std::uint32_t block_of(const Nodes& nodes, int lane, int node) {
  return static_cast<std::uint32_t>(lane * nodes.count() + nodes.wrap(node));
}

// Sums of this node, of all blocks; a rank without neighbours needs that of its own block alone.
void add_node(std::vector<Step>& steps, const Nodes& nodes) {
  Rotation scratch(0, kInsideScratch);
  for (int away = 0; away < nodes.count(); ++away) {
    if (nodes.locals() == 1 && away > 0) return;
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      const auto block = block_of(nodes, lane, nodes.node() + away);
      add_inside(steps, nodes, lane, block, Area::kOutput, scratch.take());
    }
  }
}

Schedule make(const Nodes& nodes) {
  std::vector<Step> steps;
  add_node(steps, nodes);
  if (nodes.talks_across() && nodes.count() > 1) {
    const Area from = nodes.locals() == 1 ? Area::kInput : Area::kOutput;
    const auto first_block = block_of(nodes, nodes.local(), 0);
    Rotation out(0, kDirectSlots);
    Rotation in(kDirectSlots, kDirectSlots);
    add_at_owners(steps, nodes, first_block, from, Area::kOutput, out, in);
    give_to_all(steps, nodes, first_block, Area::kOutput, 2 * kDirectSlots, in);
  }
  for (int away = 0; away < nodes.count(); ++away) {
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      spread_inside(steps, nodes, lane, block_of(nodes, lane, nodes.node() - away));
    }
  }
  return assemble(static_cast<std::uint32_t>(nodes.lanes() * nodes.count()), std::move(steps));
}

}  // namespace

Schedule allreduce_direct(const Topology& topology) { return make(Nodes::flat(topology)); }
Schedule allreduce_direct_two_level(const Topology& topology) { return make(Nodes::of(topology)); }

}  // namespace thinwire::collective
