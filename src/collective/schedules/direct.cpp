
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

std::uint32_t block_of(const Nodes& nodes, std::uint32_t first_block, int node) {
  return first_block + static_cast<std::uint32_t>(nodes.wrap(node));
}

}  // namespace

// Blocks that go `away` nodes on meet those that come from as many nodes before: no node is asked
// by all at once.
void add_at_owners(std::vector<Step>& steps, const Nodes& nodes, std::uint32_t first_block,
                   Area from, Area sum, Rotation& out, Rotation& in) {
  const auto own = block_of(nodes, first_block, nodes.node());
  for (int away = 1; away < nodes.count(); ++away) {
    const auto block = block_of(nodes, first_block, nodes.node() + away);
    const auto going = out.take();
    steps.push_back(encode(block, from, going));
    steps.push_back(send(block, going, nodes.across(nodes.node() + away)));
    const auto coming = in.take();
    steps.push_back(receive(own, coming, nodes.across(nodes.node() - away)));
    steps.push_back(reduce(own, sum, coming));
  }
}

void give_to_all(std::vector<Step>& steps, const Nodes& nodes, std::uint32_t first_block, Area from,
                 std::uint32_t slot, Rotation& in) {
  const auto own = block_of(nodes, first_block, nodes.node());
  steps.push_back(encode(own, from, slot));
  for (int away = 1; away < nodes.count(); ++away) {
    steps.push_back(send(own, slot, nodes.across(nodes.node() + away)));
    const auto block = block_of(nodes, first_block, nodes.node() - away);
    const auto coming = in.take();
    steps.push_back(receive(block, coming, nodes.across(nodes.node() - away)));
    steps.push_back(decode(block, Area::kOutput, coming));
  }
  steps.push_back(decode(own, Area::kOutput, slot));
}

// Every rank sends its block to each of the others.

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

// Every rank sends each owner its part of that one's block; owners add up in a fixed order, encode
// the sum once and send it to all. Inside a node values are added before and spread after.

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

// Every rank sends each owner its part of that one's block; owners add up in a fixed order and keep
// the sum, or send it to the root.

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
