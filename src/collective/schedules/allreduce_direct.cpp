// Every rank sends each owner its part of that one's block; owners add up in a fixed order, encode
// the sum once and send it to all. Inside a node values are added before and spread after.
#include "collective/schedules/inside.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kInsideScratch = 4;
constexpr std::uint32_t kSlotsEachWay = 4;

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

// `away` is how far the node lies behind, for what comes, and before, for what goes.
void add_up(std::vector<Step>& steps, const Nodes& nodes, Rotation& out, Rotation& in) {
  const Area from = nodes.locals() == 1 ? Area::kInput : Area::kOutput;
  const auto own = block_of(nodes, nodes.local(), nodes.node());
  for (int away = 1; away < nodes.count(); ++away) {
    const auto block = block_of(nodes, nodes.local(), nodes.node() + away);
    const auto going = out.take();
    steps.push_back(encode(block, from, going));
    steps.push_back(send(block, going, nodes.across(nodes.node() + away)));
    const auto coming = in.take();
    steps.push_back(receive(own, coming, nodes.across(nodes.node() - away)));
    steps.push_back(reduce(own, Area::kOutput, coming));
  }
}

void hand_out(std::vector<Step>& steps, const Nodes& nodes, std::uint32_t slot, Rotation& in) {
  const auto own = block_of(nodes, nodes.local(), nodes.node());
  steps.push_back(encode(own, Area::kOutput, slot));
  for (int away = 1; away < nodes.count(); ++away) {
    steps.push_back(send(own, slot, nodes.across(nodes.node() + away)));
    const auto block = block_of(nodes, nodes.local(), nodes.node() - away);
    const auto coming = in.take();
    steps.push_back(receive(block, coming, nodes.across(nodes.node() - away)));
    steps.push_back(decode(block, Area::kOutput, coming));
  }
  steps.push_back(decode(own, Area::kOutput, slot));
}

Schedule make(const Nodes& nodes) {
  std::vector<Step> steps;
  add_node(steps, nodes);
  if (nodes.talks_across() && nodes.count() > 1) {
    Rotation out(0, kSlotsEachWay);
    Rotation in(kSlotsEachWay, kSlotsEachWay);
    add_up(steps, nodes, out, in);
    hand_out(steps, nodes, 2 * kSlotsEachWay, in);
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
