#include "collective/schedules/parts.h"

#include "collective/schedules/binomial.h"

namespace thinwire::collective {

namespace {

// At the end of the chain. In place kInput lies where kOutput does: what arrives goes to scratch.
void add_at_target(std::vector<Step>& steps, int previous, std::uint32_t block, Area sum,
                   std::uint32_t scratch) {
  steps.push_back(receive_values(block, Area::kScratch, previous, scratch));
  if (sum == Area::kScratch) {
    steps.push_back(combine(block, Area::kScratch, Area::kInput, scratch));
    return;
  }
  steps.push_back(copy(block, sum, Area::kInput));
  steps.push_back(combine(block, sum, Area::kScratch, scratch));
}

}  // namespace

void add_inside(std::vector<Step>& steps, const Nodes& nodes, int target, std::uint32_t block,
                Area sum, std::uint32_t scratch) {
  const int size = nodes.locals();
  if (size == 1) {
    steps.push_back(copy(block, sum, Area::kInput, scratch));
    return;
  }
  const int place = (nodes.local() - target - 1 + size) % size;
  const int previous = nodes.neighbour((nodes.local() + size - 1) % size);
  const int next = nodes.neighbour((nodes.local() + 1) % size);
  if (place == size - 1) {
    add_at_target(steps, previous, block, sum, scratch);
  } else if (place == 0) {
    steps.push_back(send_values(block, Area::kInput, next));
  } else {
    steps.push_back(receive_values(block, Area::kScratch, previous, scratch));
    steps.push_back(combine(block, Area::kScratch, Area::kInput, scratch));
    steps.push_back(send_values(block, Area::kScratch, next, scratch));
  }
}

void spread_inside(std::vector<Step>& steps, const Nodes& nodes, int source, std::uint32_t block,
                   Area from) {
  const int size = nodes.locals();
  const BinomialTree tree(nodes.local(), source, size);
  if (tree.parent() >= 0) {
    steps.push_back(receive_values(block, Area::kOutput, nodes.neighbour(tree.parent())));
  }
  for (int reach = tree.largest_reach(); reach > 0; reach /= 2) {
    if (!tree.has_child(reach)) continue;
    steps.push_back(send_values(block, from, nodes.neighbour(tree.child(reach))));
  }
}

}  // namespace thinwire::collective
