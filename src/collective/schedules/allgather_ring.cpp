// Every rank's block goes round a ring of nodes as a packet, and inside each node as values. If
// nodes are of one size there is a ring for each number of a rank in its node, else the first rank
// of a node takes the blocks of all its ranks round.
#include "collective/schedules/inside.h"
#include "collective/schedules/ring.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

// More than what a node contributes in one go. With fewer slots, each rank could wait for its
// neighbour to receive what that one has no slot for, all the way round.
std::uint32_t slots_of(const Nodes& nodes, Forward forward) {
  if (forward == Forward::kCodedAgain) return kRingSlotsCodedAgain;
  const int together = nodes.lanes() == 1 ? nodes.largest() : 1;
  return static_cast<std::uint32_t>(together) + kRingSlots - 1;
}

// The blocks of ranks that do not talk across go to the one that does, in their place in kOutput.
void hand_over(std::vector<Step>& steps, const Nodes& nodes, int owner, std::uint32_t block) {
  if (nodes.local() == owner) {
    steps.push_back(send_values(block, Area::kInput, nodes.neighbour(0)));
  } else if (nodes.talks_across()) {
    steps.push_back(receive_values(block, Area::kOutput, nodes.neighbour(owner)));
  }
}

void take_block(std::vector<Step>& steps, const Nodes& nodes, int distance, std::uint32_t block,
                bool own, Rotation& slots, Forward forward) {
  const Area from = own ? Area::kInput : Area::kOutput;
  if (nodes.count() == 1) {
    if (own) steps.push_back(copy(block, Area::kOutput, from));
    return;
  }
  pass_round(steps, nodes, distance, block, from, slots, forward);
}

Schedule make(const Topology& topology, const Nodes& nodes, Forward forward) {
  std::vector<Step> steps;
  Rotation slots(0, slots_of(nodes, forward));
  for (int distance = 0; distance < nodes.count(); ++distance) {
    const int node = nodes.node() - distance;
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      for (int i = 0; i < nodes.lane_members(node); ++i) {
        const int rank = nodes.lane_member(node, lane, i);
        const auto block = static_cast<std::uint32_t>(rank);
        if (distance == 0 && i > 0) hand_over(steps, nodes, i, block);
        if (lane == nodes.local()) {
          take_block(steps, nodes, distance, block, rank == topology.rank, slots, forward);
        }
        spread_inside(steps, nodes, lane, block);
      }
    }
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace

Schedule allgather_ring(const Topology& topology) {
  return make(topology, Nodes::flat(topology), Forward::kUntouched);
}
Schedule allgather_ring_per_hop(const Topology& topology) {
  return make(topology, Nodes::flat(topology), Forward::kCodedAgain);
}
Schedule allgather_ring_two_level(const Topology& topology) {
  return make(topology, Nodes::of(topology), Forward::kUntouched);
}

}  // namespace thinwire::collective
