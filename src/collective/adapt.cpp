#include "collective/adapt.h"

#include <algorithm>
#include <utility>

namespace thinwire::collective {
namespace {

// In turn, so that one message may be copied while another travels.
constexpr std::uint32_t kStagingSlots = 4;

}  // namespace

void quantise_own(Schedule& schedule) {
  const auto begins = [](const Step& step) {
    return step.action == Action::kCopy && step.from == Area::kInput;
  };
  if (std::none_of(schedule.steps.begin(), schedule.steps.end(), begins)) return;
  const std::uint32_t slot = schedule.slots++;
  std::vector<Step> steps;
  steps.reserve(schedule.steps.size() + 1);
  for (const Step& step : schedule.steps) {
    if (!begins(step)) {
      steps.push_back(step);
      continue;
    }
    steps.push_back(encode(step.block, Area::kInput, slot));
    steps.push_back(decode(step.block, step.to, slot, step.scratch));
  }
  schedule.steps = std::move(steps);
}

void stage_values(Schedule& schedule) {
  const auto stays_raw = [](const Step& step) {
    return step.action == Action::kSendValues || step.action == Action::kReceiveValues;
  };
  if (std::none_of(schedule.steps.begin(), schedule.steps.end(), stays_raw)) return;
  std::vector<Step> staged;
  staged.reserve(2 * schedule.steps.size());
  std::uint32_t turn = 0;
  for (const Step& step : schedule.steps) {
    const std::uint32_t slot = schedule.slots + turn;
    if (step.action == Action::kSendValues) {
      staged.push_back(encode(step.block, step.from, slot, step.scratch));
      staged.back().is_raw = true;
      staged.push_back(send(step.block, slot, step.peer));
    } else if (step.action == Action::kReceiveValues) {
      staged.push_back(receive(step.block, slot, step.peer));
      staged.push_back(decode(step.block, step.to, slot, step.scratch));
    } else {
      staged.push_back(step);
      continue;
    }
    turn = (turn + 1) % kStagingSlots;
  }
  schedule.slots += kStagingSlots;
  schedule.steps = std::move(staged);
}

}  // namespace thinwire::collective
