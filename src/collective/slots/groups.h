// Blocks of an exchange that are coded in one step: those that follow each other, have one shape
// and outcomes one after the other.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "codec/blocks.h"
#include "collective/slots/plan.h"

namespace thinwire::collective {

using TaskGroup = std::span<const SlotTask* const>;

inline bool is_encoded(const SlotTask& task) { return !task.is_raw && !task.again; }
inline bool comes_in_slot(const SlotTask& task) { return !task.is_raw; }

inline bool go_together(const SlotTask& one, const SlotTask& next) {
  return next.outcome == one.outcome + 1 && next.raw_bytes == one.raw_bytes &&
         next.shape == one.shape;
}

// Calls act(group) for all tasks that takes(task), in their order, `most` at a time; to the first
// that fails.
template <typename Takes, typename Act>
Status for_each_group(const std::vector<SlotTask>& tasks, int most, Takes&& takes, Act&& act) {
  std::array<const SlotTask*, codec::Blocks::kMost> group;
  std::size_t count = 0;
  for (const SlotTask& task : tasks) {
    if (!takes(task)) continue;
    if (count > 0 &&
        (count == static_cast<std::size_t>(most) || !go_together(*group[count - 1], task))) {
      if (Status status = act(TaskGroup(group.data(), count)); !status.ok()) return status;
      count = 0;
    }
    group[count++] = &task;
  }
  return count == 0 ? Status() : act(TaskGroup(group.data(), count));
}

}  // namespace thinwire::collective
