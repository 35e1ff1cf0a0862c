// A program for a transport that only enqueues: its messages in groups, its local tasks between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/program.h"

namespace thinwire::collective {

// What one rank enqueues, phase after phase: local tasks, then a group of messages that are under
// way at once. All that comes behind a group waits for the whole of it, so no group may hold two
// messages of which one needs the other, here or by way of other ranks. Each rank sees its own
// schedule alone; it takes messages in that order, and ends a group where one waits for a message
// of the group, or where a send follows a receive. That no group of any rank then waits for ever is
// proven for every row of the table (tests/schedule). Local tasks come as late as those behind them
// allow: a packet is on its way again before it is decoded here.
class Phases {
 public:
  // Reuses what an earlier build() allocated.
  void build(const Schedule& schedule, const Program& program);

  std::uint32_t count() const { return static_cast<std::uint32_t>(local_ends_.size()); }

  // Tasks, in the order of the program. Either may be none.
  std::span<const std::uint32_t> locals(std::uint32_t phase) const {
    return part(locals_, local_ends_, phase);
  }
  std::span<const std::uint32_t> messages(std::uint32_t phase) const {
    return part(messages_, message_ends_, phase);
  }

 private:
  static std::span<const std::uint32_t> part(const std::vector<std::uint32_t>& all,
                                             const std::vector<std::uint32_t>& ends,
                                             std::uint32_t phase) {
    const std::uint32_t first = phase == 0 ? 0 : ends[phase - 1];
    return std::span(all).subspan(first, ends[phase] - first);
  }

  std::uint32_t place_messages(const Schedule& schedule, const Program& program);
  void place_locals(const Schedule& schedule, const Program& program, std::uint32_t last);

  std::vector<std::uint32_t> phase_of_;  // by task
  std::vector<std::uint32_t> locals_, messages_;
  std::vector<std::uint32_t> local_ends_, message_ends_;  // by phase
};

}  // namespace thinwire::collective
