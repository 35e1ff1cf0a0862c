// Each block goes from the root to its rank: down a binomial tree, or straight. The root encodes
// it; its own one is copied.
#include "collective/schedules/binomial.h"
#include "collective/schedules/ring.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kScratch = 2;

// A block on its way down, at a rank between the root and its own.
void pass_down(std::vector<Step>& steps, std::uint32_t block, int child, Rotation& slots,
               std::uint32_t slot, Rotation& scratch, Forward forward) {
  if (forward == Forward::kCodedAgain) {
    const auto values = scratch.take();
    steps.push_back(decode(block, Area::kScratch, slot, values));
    slot = slots.take();
    steps.push_back(encode(block, Area::kScratch, slot, values));
  }
  steps.push_back(send(block, slot, child));
}

// Every rank gets the blocks of its tree, the farthest first and its own last: then all that come
// before go to one child after the other in the order in which those want them.
Schedule make_binomial(const Topology& topology, Forward forward) {
  const BinomialTree tree(topology.rank, topology.root, topology.size);
  std::vector<Step> steps;
  Rotation slots(0, kSlots);
  Rotation scratch(0, kScratch);
  for (int distance = tree.width() - 1; distance >= 0; --distance) {
    const auto block = static_cast<std::uint32_t>(tree.at(tree.place() + distance));
    if (tree.parent() < 0 && distance == 0) {
      steps.push_back(copy(block, Area::kOutput, Area::kInput));
    } else if (tree.parent() < 0) {
      const auto slot = slots.take();
      steps.push_back(encode(block, Area::kInput, slot));
      steps.push_back(send(block, slot, tree.child_towards(distance)));
    } else {
      const auto slot = slots.take();
      steps.push_back(receive(block, slot, tree.parent()));
      if (distance > 0) {
        pass_down(steps, block, tree.child_towards(distance), slots, slot, scratch, forward);
      } else {
        steps.push_back(decode(block, Area::kOutput, slot));
      }
    }
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace

Schedule scatter_binomial(const Topology& topology) {
  return make_binomial(topology, Forward::kUntouched);
}
Schedule scatter_binomial_per_hop(const Topology& topology) {
  return make_binomial(topology, Forward::kCodedAgain);
}

Schedule scatter_direct(const Topology& topology) {
  const auto own = static_cast<std::uint32_t>(topology.rank);
  std::vector<Step> steps;
  if (topology.rank != topology.root) {
    steps.push_back(receive(own, 0, topology.root));
    steps.push_back(decode(own, Area::kOutput, 0));
  } else {
    Rotation slots(0, kSlots);
    for (int away = 1; away < topology.size; ++away) {
      const int rank = (topology.root + away) % topology.size;
      const auto slot = slots.take();
      steps.push_back(encode(static_cast<std::uint32_t>(rank), Area::kInput, slot));
      steps.push_back(send(static_cast<std::uint32_t>(rank), slot, rank));
    }
    steps.push_back(copy(own, Area::kOutput, Area::kInput));
  }
  return assemble(static_cast<std::uint32_t>(topology.size), std::move(steps));
}

}  // namespace thinwire::collective
