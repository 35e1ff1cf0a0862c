// Each block goes from its rank to the root: up a binomial tree of nodes, or straight. The root's
// own one is copied, those of its node come as values. Of the others the first rank that sends one
// to another node encodes it.
#include "collective/schedules/binomial.h"
#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kScratch = 2;

// The steps of a node's first rank.
class Leader {
 public:
  Leader(const Nodes& nodes, const BinomialTree& tree) : nodes_(nodes), tree_(tree) {}

  // The block of member `i` of this node.
  void take_inside(int i) {
    const int rank = nodes_.neighbour(i);
    const auto block = static_cast<std::uint32_t>(rank);
    if (is_root()) {
      steps.push_back(i == 0 ? copy(block, Area::kOutput, Area::kInput)
                             : receive_values(block, Area::kOutput, rank));
      return;
    }
    const auto slot = slots_.take();
    if (i == 0) {
      steps.push_back(encode(block, Area::kInput, slot));
    } else {
      const auto scratch = scratch_.take();
      steps.push_back(receive_values(block, Area::kScratch, rank, scratch));
      steps.push_back(encode(block, Area::kScratch, slot, scratch));
    }
    hand_on(block, slot);
  }

  // A block of the node that is `distance` further on in the tree.
  void take_across(int distance, int rank) {
    const auto block = static_cast<std::uint32_t>(rank);
    const auto slot = slots_.take();
    steps.push_back(receive(block, slot, nodes_.across(tree_.child_towards(distance))));
    if (is_root()) {
      steps.push_back(decode(block, Area::kOutput, slot));
    } else {
      hand_on(block, slot);
    }
  }

  std::vector<Step> steps;

 private:
  bool is_root() const { return tree_.parent() < 0; }
  void hand_on(std::uint32_t block, std::uint32_t slot) {
    steps.push_back(send(block, slot, nodes_.across(tree_.parent())));
  }

  const Nodes& nodes_;
  const BinomialTree& tree_;
  Rotation slots_{0, kSlots};
  Rotation scratch_{0, kScratch};
};

// Every leader hands on the blocks of its tree, those of its own node first and of the farthest
// last: the order in which its children, the nearest first, hand on theirs.
Schedule make_binomial(const Topology& topology, const Nodes& nodes) {
  const auto blocks = static_cast<std::uint32_t>(topology.size);
  if (!nodes.talks_across()) {
    const auto own = static_cast<std::uint32_t>(topology.rank);
    return assemble(blocks, {send_values(own, Area::kInput, nodes.neighbour(0))});
  }
  const BinomialTree tree(nodes.node(), nodes.root_node(), nodes.count());
  Leader leader(nodes, tree);
  for (int i = 0; i < nodes.locals(); ++i) leader.take_inside(i);
  for (int distance = 1; distance < tree.width(); ++distance) {
    const int node = tree.at(tree.place() + distance);
    for (int i = 0; i < nodes.members(node); ++i) {
      leader.take_across(distance, nodes.member(node, i));
    }
  }
  return assemble(blocks, std::move(leader.steps));
}

// `levels`: ranks of the root's node send values.
Schedule make_direct(const Topology& topology, bool levels) {
  const auto own = static_cast<std::uint32_t>(topology.rank);
  const auto with_root = [&](int rank) {
    return levels && topology.node(rank) == topology.node(topology.root);
  };
  std::vector<Step> steps;
  if (topology.rank == topology.root) {
    steps.push_back(copy(own, Area::kOutput, Area::kInput));
    Rotation slots(0, kSlots);
    for (int away = 1; away < topology.size; ++away) {
      const int rank = (topology.root + away) % topology.size;
      const auto block = static_cast<std::uint32_t>(rank);
      if (with_root(rank)) {
        steps.push_back(receive_values(block, Area::kOutput, rank));
        continue;
      }
      const auto slot = slots.take();
      steps.push_back(receive(block, slot, rank));
      steps.push_back(decode(block, Area::kOutput, slot));
    }
  } else if (with_root(topology.rank)) {
    steps.push_back(send_values(own, Area::kInput, topology.root));
  } else {
    steps.push_back(encode(own, Area::kInput, 0));
    steps.push_back(send(own, 0, topology.root));
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace

Schedule gather_binomial(const Topology& topology) {
  return make_binomial(topology, Nodes::flat(topology));
}
Schedule gather_binomial_two_level(const Topology& topology) {
  return make_binomial(topology, Nodes::of_rooted(topology));
}
Schedule gather_direct(const Topology& topology) { return make_direct(topology, false); }
Schedule gather_direct_two_level(const Topology& topology) { return make_direct(topology, true); }

}  // namespace thinwire::collective
