#include "collective/schedules/direct.h"

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

}  // namespace thinwire::collective
