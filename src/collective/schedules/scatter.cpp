// Each block goes from the root to its rank: down a binomial tree of nodes, or straight. The root
// encodes those that leave its node and sends the others as values; its own one is copied.
#include "collective/schedules/binomial.h"
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kScratch = 2;

// The steps of a node's first rank.
class Leader {
 public:
  Leader(const Nodes& nodes, const BinomialTree& tree, Forward forward)
      : nodes_(nodes), tree_(tree), forward_(forward) {}

  // A block of the node that is `distance` further on in the tree.
  void give_across(int distance, int rank) {
    const auto block = static_cast<std::uint32_t>(rank);
    auto slot = slots_.take();
    if (is_root()) {
      steps.push_back(encode(block, Area::kInput, slot));
    } else {
      receive_packet(block, slot);
      if (forward_ == Forward::kCodedAgain) slot = code_again(block, slot);
    }
    steps.push_back(send(block, slot, nodes_.across(tree_.child_towards(distance))));
  }

  // The block of member `i` of this node.
  void give_inside(int i) {
    const int rank = nodes_.neighbour(i);
    const auto block = static_cast<std::uint32_t>(rank);
    if (is_root()) {
      steps.push_back(i == 0 ? copy(block, Area::kOutput, Area::kInput)
                             : send_values(block, Area::kInput, rank));
      return;
    }
    const auto slot = slots_.take();
    receive_packet(block, slot);
    if (i == 0) {
      steps.push_back(decode(block, Area::kOutput, slot));
    } else {
      const auto scratch = scratch_.take();
      steps.push_back(decode(block, Area::kScratch, slot, scratch));
      steps.push_back(send_values(block, Area::kScratch, rank, scratch));
    }
  }

  std::vector<Step> steps;

 private:
  bool is_root() const { return tree_.parent() < 0; }

  void receive_packet(std::uint32_t block, std::uint32_t slot) {
    steps.push_back(receive(block, slot, nodes_.across(tree_.parent())));
  }

  std::uint32_t code_again(std::uint32_t block, std::uint32_t slot) {
    const auto scratch = scratch_.take();
    steps.push_back(decode(block, Area::kScratch, slot, scratch));
    slot = slots_.take();
    steps.push_back(encode(block, Area::kScratch, slot, scratch));
    return slot;
  }

  const Nodes& nodes_;
  const BinomialTree& tree_;
  Forward forward_;
  Rotation slots_{0, kSlots};
  Rotation scratch_{0, kScratch};
};

// Every leader gets the blocks of its tree, those of the farthest node first and its own last: then
// all that come before go to one child after the other in the order in which those want them.
Schedule make_binomial(const Topology& topology, const Nodes& nodes, Forward forward) {
  const auto blocks = static_cast<std::uint32_t>(topology.size);
  if (!nodes.talks_across()) {
    const auto own = static_cast<std::uint32_t>(topology.rank);
    return assemble(blocks, {receive_values(own, Area::kOutput, nodes.neighbour(0))});
  }
  const BinomialTree tree(nodes.node(), nodes.root_node(), nodes.count());
  Leader leader(nodes, tree, forward);
  for (int distance = tree.width() - 1; distance > 0; --distance) {
    const int node = tree.at(tree.place() + distance);
    for (int i = nodes.members(node) - 1; i >= 0; --i) {
      leader.give_across(distance, nodes.member(node, i));
    }
  }
  for (int i = nodes.locals() - 1; i >= 0; --i) leader.give_inside(i);
  return assemble(blocks, std::move(leader.steps));
}

// `levels`: ranks of the root's node get values.
Schedule make_direct(const Topology& topology, bool levels) {
  const auto own = static_cast<std::uint32_t>(topology.rank);
  const auto with_root = [&](int rank) {
    return levels && topology.node(rank) == topology.node(topology.root);
  };
  std::vector<Step> steps;
  if (topology.rank == topology.root) {
    Rotation slots(0, kSlots);
    for (int away = 1; away < topology.size; ++away) {
      const int rank = (topology.root + away) % topology.size;
      const auto block = static_cast<std::uint32_t>(rank);
      if (with_root(rank)) {
        steps.push_back(send_values(block, Area::kInput, rank));
        continue;
      }
      const auto slot = slots.take();
      steps.push_back(encode(block, Area::kInput, slot));
      steps.push_back(send(block, slot, rank));
    }
    steps.push_back(copy(own, Area::kOutput, Area::kInput));
  } else if (with_root(topology.rank)) {
    steps.push_back(receive_values(own, Area::kOutput, topology.root));
  } else {
    steps.push_back(receive(own, 0, topology.root));
    steps.push_back(decode(own, Area::kOutput, 0));
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace

Schedule scatter_binomial(const Topology& topology) {
  return make_binomial(topology, Nodes::flat(topology), Forward::kUntouched);
}
Schedule scatter_binomial_per_hop(const Topology& topology) {
  return make_binomial(topology, Nodes::flat(topology), Forward::kCodedAgain);
}
Schedule scatter_binomial_two_level(const Topology& topology) {
  return make_binomial(topology, Nodes::of_rooted(topology), Forward::kUntouched);
}
Schedule scatter_direct(const Topology& topology) { return make_direct(topology, false); }
Schedule scatter_direct_two_level(const Topology& topology) { return make_direct(topology, true); }

}  // namespace thinwire::collective
