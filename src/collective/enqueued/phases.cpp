#include "collective/enqueued/phases.h"

#include <algorithm>

namespace thinwire::collective {
namespace {

// Tasks sorted by phase, which keeps their order inside one; where each phase ends.
void sort_by_phase(const std::vector<std::uint32_t>& phase_of, std::uint32_t phases,
                   std::vector<std::uint32_t>& tasks, std::vector<std::uint32_t>& ends) {
  std::stable_sort(tasks.begin(), tasks.end(), [&](std::uint32_t left, std::uint32_t right) {
    return phase_of[left] < phase_of[right];
  });
  ends.assign(phases, 0);
  for (const std::uint32_t task : tasks) ++ends[phase_of[task]];
  for (std::uint32_t phase = 1; phase < phases; ++phase) ends[phase] += ends[phase - 1];
}

}  // namespace

// As early as what they wait for allows, in the order of the schedule. Returns the last phase that
// has any, or 0. Local tasks get the earliest phase that they could have.
std::uint32_t Phases::place_messages(const Schedule& schedule, const Program& program) {
  const auto tasks = program.tasks();
  phase_of_.assign(tasks.size(), 0);
  std::uint32_t last = 0;
  bool has_received = false;  // in the last group so far
  for (std::uint32_t at = 0; at < tasks.size(); ++at) {
    const Action action = schedule.steps[tasks[at].step].action;
    if (is_message(action)) {
      const std::uint32_t next = last + (is_send(action) && has_received ? 1 : 0);
      phase_of_[at] = std::max(phase_of_[at], next);
      has_received = !is_send(action) || (has_received && phase_of_[at] == last);
      last = phase_of_[at];
    }
    const std::uint32_t earliest = phase_of_[at] + (is_message(action) ? 1 : 0);
    for (const std::uint32_t follower : program.followers(at)) {
      phase_of_[follower] = std::max(phase_of_[follower], earliest);
    }
  }
  return last;
}

// Before the first that waits for them; those that nobody waits for behind all messages.
void Phases::place_locals(const Schedule& schedule, const Program& program, std::uint32_t last) {
  const auto tasks = program.tasks();
  for (auto at = static_cast<std::uint32_t>(tasks.size()); at-- > 0;) {
    if (is_message(schedule.steps[tasks[at].step].action)) continue;
    phase_of_[at] = last;
    for (const std::uint32_t follower : program.followers(at)) {
      phase_of_[at] = std::min(phase_of_[at], phase_of_[follower]);
    }
  }
}

void Phases::build(const Schedule& schedule, const Program& program) {
  const std::uint32_t behind_messages = place_messages(schedule, program) + 1;
  place_locals(schedule, program, behind_messages);
  locals_.clear();
  messages_.clear();
  for (std::uint32_t at = 0; at < program.tasks().size(); ++at) {
    const bool travels = is_message(schedule.steps[program.tasks()[at].step].action);
    (travels ? messages_ : locals_).push_back(at);
  }
  sort_by_phase(phase_of_, behind_messages + 1, locals_, local_ends_);
  sort_by_phase(phase_of_, behind_messages + 1, messages_, message_ends_);
}

}  // namespace thinwire::collective
