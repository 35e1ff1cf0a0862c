// Sums go up a binomial tree of nodes: every one adds those of its children to its own, and sends
// that on. Inside a node values are added before. One block: the executor pipelines pieces of it.
#include "collective/schedules/binomial.h"
#include "collective/schedules/parts.h"
#include "collective/schedules/schedules.h"

namespace thinwire::collective {

namespace {

constexpr std::uint32_t kBlock = 0;
constexpr std::uint32_t kScratch = 0;
constexpr std::uint32_t kSlotsFromChildren = 2;

Schedule make(const Nodes& nodes) {
  std::vector<Step> steps;
  const BinomialTree tree(nodes.node(), nodes.root_node(), nodes.count());
  const bool root = tree.parent() < 0;
  // kOutput is there at the root alone.
  Area sum = root ? Area::kOutput : Area::kScratch;
  const bool as_it_is = !root && nodes.locals() == 1 && !tree.has_child(1);
  if (as_it_is) {
    sum = Area::kInput;
  } else {
    add_inside(steps, nodes, 0, kBlock, sum, kScratch);
  }
  if (nodes.talks_across()) {
    Rotation slots(1, kSlotsFromChildren);
    for (int reach = 1; tree.has_child(reach); reach *= 2) {
      const auto slot = slots.take();
      steps.push_back(receive(kBlock, slot, nodes.across(tree.child(reach))));
      steps.push_back(reduce(kBlock, sum, slot, kScratch));
    }
    if (!root) {
      steps.push_back(encode(kBlock, sum, 0, kScratch));
      steps.push_back(send(kBlock, 0, nodes.across(tree.parent())));
    }
  }
  return assemble(1, std::move(steps));
}

}  // namespace

Schedule reduce_binomial(const Topology& topology) { return make(Nodes::flat(topology)); }
Schedule reduce_binomial_two_level(const Topology& topology) {
  return make(Nodes::of_rooted(topology));
}

}  // namespace thinwire::collective
