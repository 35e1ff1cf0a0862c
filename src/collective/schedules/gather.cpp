// Each block goes from its rank to the root: up a binomial tree, or straight. Its rank encodes it;
// the root's own one is copied.
#include "collective/schedules/binomial.h"
#include "collective/schedules/nodes.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kSlots = 4;

}  // namespace

// Every rank hands on the blocks of its tree, its own first and the farthest last: the order in
// which its children, the nearest first, hand on theirs.
Schedule gather_binomial(const Topology& topology) {
  const BinomialTree tree(topology.rank, topology.root, topology.size);
  std::vector<Step> steps;
  Rotation slots(0, kSlots);
  for (int distance = 0; distance < tree.width(); ++distance) {
    const auto block = static_cast<std::uint32_t>(tree.at(tree.place() + distance));
    if (tree.parent() < 0 && distance == 0) {
      steps.push_back(copy(block, Area::kOutput, Area::kInput));
      continue;
    }
    const auto slot = slots.take();
    if (distance == 0) {
      steps.push_back(encode(block, Area::kInput, slot));
    } else {
      steps.push_back(receive(block, slot, tree.child_towards(distance)));
    }
    if (tree.parent() < 0) {
      steps.push_back(decode(block, Area::kOutput, slot));
    } else {
      steps.push_back(send(block, slot, tree.parent()));
    }
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

Schedule gather_direct(const Topology& topology) {
  const auto own = static_cast<std::uint32_t>(topology.rank);
  std::vector<Step> steps;
  if (topology.rank != topology.root) {
    steps.push_back(encode(own, Area::kInput, 0));
    steps.push_back(send(own, 0, topology.root));
  } else {
    steps.push_back(copy(own, Area::kOutput, Area::kInput));
    Rotation slots(0, kSlots);
    for (int away = 1; away < topology.size; ++away) {
      const int rank = (topology.root + away) % topology.size;
      const auto slot = slots.take();
      steps.push_back(receive(static_cast<std::uint32_t>(rank), slot, rank));
      steps.push_back(decode(static_cast<std::uint32_t>(rank), Area::kOutput, slot));
    }
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace thinwire::collective
