// Sums go round a ring of nodes, every one adding its own, until the sum of a block is where that
// block is owned; the owner encodes it once, and the packet goes round. Inside a node values are
// added before and spread after. If nodes are of one size there is a ring for each number of a
// rank in its node, and the blocks are shared out among the rings.
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kInsideScratch = 4;
constexpr std::uint32_t kSumSlots = 4;

std::uint32_t block_of(const Nodes& nodes, int lane, int node) {
  return static_cast<std::uint32_t>(lane * nodes.count() + nodes.wrap(node));
}

// The step of the ring for what leaves here with `hops` hops to go; the last one stays. The sum of
// this node alone is in `own`.
void add_to_ring(std::vector<Step>& steps, const Nodes& nodes, int hops, std::uint32_t block,
                 Area own, Rotation& slots) {
  if (hops < nodes.count() - 1) {
    const auto slot = slots.take();
    steps.push_back(receive(block, slot, nodes.across(nodes.node() - 1)));
    steps.push_back(reduce(block, Area::kOutput, slot));
  }
  if (hops > 0) {
    const auto slot = slots.take();
    steps.push_back(encode(block, own, slot));
    steps.push_back(send(block, slot, nodes.across(nodes.node() + 1)));
  }
}

void add_up(std::vector<Step>& steps, const Nodes& nodes) {
  Rotation slots(0, kSumSlots);
  Rotation scratch(0, kInsideScratch);
  for (int hops = nodes.count() - 1; hops >= 0; --hops) {
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      const auto block = block_of(nodes, lane, nodes.node() - (nodes.count() - hops));
      // The first sum of a rank without neighbours is its input as it is.
      const bool as_it_is = nodes.locals() == 1 && nodes.count() > 1 && hops == nodes.count() - 1;
      if (!as_it_is) add_inside(steps, nodes, lane, block, Area::kOutput, scratch.take());
      if (lane != nodes.local()) continue;
      add_to_ring(steps, nodes, hops, block, as_it_is ? Area::kInput : Area::kOutput, slots);
    }
  }
}

void hand_out(std::vector<Step>& steps, const Nodes& nodes, Forward forward) {
  Rotation slots(kSumSlots, forward == Forward::kUntouched ? kRingSlots : kRingSlotsCodedAgain);
  for (int distance = 0; distance < nodes.count(); ++distance) {
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      const auto block = block_of(nodes, lane, nodes.node() - distance);
      if (lane == nodes.local() && nodes.count() > 1) {
        pass_round(steps, nodes, distance, block, Area::kOutput, slots, forward);
      }
      spread_inside(steps, nodes, lane, block);
    }
  }
}

Schedule make(const Nodes& nodes, Forward forward) {
  std::vector<Step> steps;
  add_up(steps, nodes);
  hand_out(steps, nodes, forward);
  return assemble(static_cast<std::uint32_t>(nodes.lanes() * nodes.count()), std::move(steps));
}

}  // namespace

Schedule allreduce_ring(const Topology& topology) {
  return make(Nodes::flat(topology), Forward::kUntouched);
}
Schedule allreduce_ring_per_hop(const Topology& topology) {
  return make(Nodes::flat(topology), Forward::kCodedAgain);
}
Schedule allreduce_ring_two_level(const Topology& topology) {
  return make(Nodes::of(topology), Forward::kUntouched);
}

}  // namespace thinwire::collective
