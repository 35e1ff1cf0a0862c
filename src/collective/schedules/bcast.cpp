// The array goes from the root's node to the others as a packet, along a chain or down a tree, and
// inside each node as values. One block: the executor pipelines pieces of it. The root's node gets
// what the packet decodes to as all others do, but the root's own values stay.
#include <optional>

#include "collective/schedules/binomial.h"
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kBlock = 0;
constexpr std::uint32_t kSlot = 0;

// The part of one rank between the nodes: whom it hears, and whom it tells, the first one first.
struct Relay {
  int parent = -1;
  std::vector<int> children;
};

Relay chain(const Nodes& nodes) {
  Relay relay;
  const int place = nodes.wrap(nodes.node() - nodes.root_node());
  if (place > 0) relay.parent = nodes.across(nodes.node() - 1);
  if (place < nodes.count() - 1) relay.children.push_back(nodes.across(nodes.node() + 1));
  return relay;
}

Relay binomial(const Nodes& nodes) {
  Relay relay;
  const BinomialTree tree(nodes.node(), nodes.root_node(), nodes.count());
  if (tree.parent() >= 0) relay.parent = nodes.across(tree.parent());
  for (int reach = tree.largest_reach(); reach > 0; reach /= 2) {
    if (tree.has_child(reach)) relay.children.push_back(nodes.across(tree.child(reach)));
  }
  return relay;
}

void send_to(std::vector<Step>& steps, const Relay& relay, std::uint32_t slot) {
  for (const int child : relay.children) steps.push_back(send(kBlock, slot, child));
}

void relay_packet(std::vector<Step>& steps, const Relay& relay, std::optional<Area> decoded) {
  if (relay.parent < 0) {
    steps.push_back(encode(kBlock, Area::kOutput, kSlot));
  } else {
    steps.push_back(receive(kBlock, kSlot, relay.parent));
  }
  send_to(steps, relay, kSlot);
  if (decoded) steps.push_back(decode(kBlock, *decoded, kSlot));
}

void relay_coded_again(std::vector<Step>& steps, const Relay& relay, bool root_decodes) {
  if (relay.parent >= 0) {
    steps.push_back(receive(kBlock, kSlot, relay.parent));
    steps.push_back(decode(kBlock, Area::kOutput, kSlot));
  }
  if (relay.children.empty()) return;
  steps.push_back(encode(kBlock, Area::kOutput, kSlot + 1));
  send_to(steps, relay, kSlot + 1);
  if (relay.parent < 0 && root_decodes) steps.push_back(decode(kBlock, Area::kOutput, kSlot + 1));
}

// The place where a rank that talks across puts what it decodes; none if nobody reads it.
std::optional<Area> place_of_decoded(const Topology& topology, const Nodes& nodes) {
  if (topology.rank != topology.root || topology.root_decodes) return Area::kOutput;
  if (nodes.locals() > 1) return Area::kScratch;
  return std::nullopt;
}

Schedule make(const Topology& topology, const Nodes& nodes, Relay (*relay_of)(const Nodes&),
              Forward forward) {
  std::vector<Step> steps;
  Area result = Area::kOutput;
  if (nodes.count() > 1 && nodes.talks_across()) {
    const auto relay = relay_of(nodes);
    if (forward == Forward::kUntouched) {
      const auto decoded = place_of_decoded(topology, nodes);
      relay_packet(steps, relay, decoded);
      result = decoded.value_or(result);
    } else {
      relay_coded_again(steps, relay, topology.root_decodes);
    }
  }
  spread_inside(steps, nodes, 0, kBlock, result);
  return assemble(1, std::move(steps));
}

}  // namespace

Schedule bcast_chain(const Topology& topology) {
  return make(topology, Nodes::flat(topology), chain, Forward::kUntouched);
}
Schedule bcast_chain_per_hop(const Topology& topology) {
  return make(topology, Nodes::flat(topology), chain, Forward::kCodedAgain);
}
Schedule bcast_chain_two_level(const Topology& topology) {
  return make(topology, Nodes::of_rooted(topology), chain, Forward::kUntouched);
}
Schedule bcast_binomial(const Topology& topology) {
  return make(topology, Nodes::flat(topology), binomial, Forward::kUntouched);
}
Schedule bcast_binomial_per_hop(const Topology& topology) {
  return make(topology, Nodes::flat(topology), binomial, Forward::kCodedAgain);
}
Schedule bcast_binomial_two_level(const Topology& topology) {
  return make(topology, Nodes::of_rooted(topology), binomial, Forward::kUntouched);
}

}  // namespace thinwire::collective
