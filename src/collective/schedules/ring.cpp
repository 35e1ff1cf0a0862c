#include "collective/schedules/ring.h"

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

}  // namespace thinwire::collective
