#include "collective/quantise.h"

#include <algorithm>

namespace thinwire::collective {

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

}  // namespace thinwire::collective
