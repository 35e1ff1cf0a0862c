
#include <algorithm>

#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

void begin_round(std::vector<Step>& steps, int next, std::uint32_t block, Area from,
                 std::uint32_t slot, Forward forward) {
  steps.push_back(encode(block, from, slot));
  steps.push_back(send(block, slot, next));
  if (forward == Forward::kUntouched) {
    // Decodes the bits that all others will hold.
    steps.push_back(decode(block, Area::kOutput, slot));
  } else if (from != Area::kOutput) {
    steps.push_back(copy(block, Area::kOutput, from));
  }
}

}  // namespace

void pass_round(std::vector<Step>& steps, const Nodes& nodes, int distance, std::uint32_t block,
                Area from, Rotation& slots, Forward forward) {
  const int next = nodes.across(nodes.node() + 1);
  auto slot = slots.take();
  if (distance == 0) {
    begin_round(steps, next, block, from, slot, forward);
    return;
  }
  const bool last = distance == nodes.count() - 1;
  steps.push_back(receive(block, slot, nodes.across(nodes.node() - 1)));
  if (!last && forward == Forward::kUntouched) steps.push_back(send(block, slot, next));
  steps.push_back(decode(block, Area::kOutput, slot));
  if (!last && forward == Forward::kCodedAgain) {
    slot = slots.take();
    steps.push_back(encode(block, Area::kOutput, slot));
    steps.push_back(send(block, slot, next));
  }
}

// Every rank's block goes round a ring of nodes as a packet, and inside each node as values. If
// nodes are of one size there is a ring for each number of a rank in its node, else the first rank
// of a node takes the blocks of all its ranks round.

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

// Sums go round a ring of nodes, every one adding its own, until the sum of a block is at the node
// of its rank. Inside a node values are added before. If nodes are of one size there is a ring
// for each number of a rank in its node, else the first rank of a node takes part for all of them.

namespace {

constexpr std::uint32_t kSlotsComing = 2;
constexpr std::uint32_t kInsideScratch = 4;

// More than what a node passes on in one go. With fewer slots, or less scratch to encode from, each
// rank could wait for its neighbour to receive what that one has no room for, all the way round.
std::uint32_t room_of(const Nodes& nodes) {
  return static_cast<std::uint32_t>(nodes.lanes() == 1 ? nodes.largest() : 1) + 1;
}

class Ring {
 public:
  Ring(const Topology& topology, const Nodes& nodes)
      : rank_(topology.rank),
        nodes_(nodes),
        coming_(0, kSlotsComing),
        going_(kSlotsComing, room_of(nodes)),
        scratch_(
            0, nodes.largest() == 1 ? room_of(nodes) : std::max(room_of(nodes), kInsideScratch)) {}

  // A block that has `hops` hops to go from here to `owner`'s node, for the ranks of one lane.
  void add(int owner, int hops, int lane) {
    const auto block = static_cast<std::uint32_t>(owner);
    const bool first = hops == nodes_.count() - 1;
    const bool last = hops == 0;
    const auto scratch = scratch_.take();
    Area sum = last && owner == rank_ && lane == nodes_.local() ? Area::kOutput : Area::kScratch;
    if (nodes_.locals() == 1 && first && !last) {
      sum = Area::kInput;
    } else {
      add_inside(steps, nodes_, lane, block, sum, scratch);
    }
    if (lane == nodes_.local()) {
      if (!first) take(block, sum, scratch);
      if (!last) pass_on(block, sum, scratch);
    }
    if (last) deliver(owner, lane, scratch);
  }

  std::vector<Step> steps;

 private:
  void take(std::uint32_t block, Area sum, std::uint32_t scratch) {
    const auto slot = coming_.take();
    steps.push_back(receive(block, slot, nodes_.across(nodes_.node() - 1)));
    steps.push_back(reduce(block, sum, slot, scratch));
  }

  void pass_on(std::uint32_t block, Area sum, std::uint32_t scratch) {
    const auto slot = going_.take();
    steps.push_back(encode(block, sum, slot, scratch));
    steps.push_back(send(block, slot, nodes_.across(nodes_.node() + 1)));
  }

  // To another rank of this node, if the lane is not its own.
  void deliver(int owner, int lane, std::uint32_t scratch) {
    const int holder = nodes_.neighbour(lane);
    const auto block = static_cast<std::uint32_t>(owner);
    if (holder == owner) return;
    if (rank_ == holder) steps.push_back(send_values(block, Area::kScratch, owner, scratch));
    if (rank_ == owner) steps.push_back(receive_values(block, Area::kOutput, holder));
  }

  int rank_;
  const Nodes& nodes_;
  Rotation coming_;
  Rotation going_;
  Rotation scratch_;
};

Schedule make(const Topology& topology, const Nodes& nodes) {
  Ring ring(topology, nodes);
  for (int hops = nodes.count() - 1; hops >= 0; --hops) {
    const int node = nodes.node() + hops;
    for (int lane = 0; lane < nodes.lanes(); ++lane) {
      for (int i = 0; i < nodes.lane_members(node); ++i) {
        ring.add(nodes.lane_member(node, lane, i), hops, lane);
      }
    }
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(ring.steps));
}

}  // namespace

Schedule reduce_scatter_ring(const Topology& topology) {
  return make(topology, Nodes::flat(topology));
}
Schedule reduce_scatter_ring_two_level(const Topology& topology) {
  return make(topology, Nodes::of(topology));
}

}  // namespace thinwire::collective
