// How much a run of a plan asks of the host and the transport: steps on its stream, as do_stage()
// takes them, messages, and the ranks at their other ends.
#include <algorithm>
#include <set>

#include "codec/codec.h"
#include "codec/job.h"
#include "collective/slots/groups.h"
#include "collective/slots/plan.h"
#include "collective/slots/work.h"

namespace thinwire::collective {
namespace {

std::uint64_t in_batches(std::uint64_t steps) { return (steps + kMostSteps - 1) / kMostSteps; }

template <typename Takes>
std::uint64_t in_groups(const std::vector<SlotTask>& tasks, int most, Takes&& takes) {
  std::uint64_t groups = 0;
  (void)for_each_group(tasks, most, takes, [&](TaskGroup) {
    ++groups;
    return Status();
  });
  return groups;
}

// Encodes, and what seals their slots; an encode may seal its own.
std::uint64_t encodes(const SlotExchange& exchange, int at_once, bool seals) {
  std::uint64_t sealed = 0;
  for (const SlotTask& task : exchange.out) {
    if (!task.is_raw && (task.again || !seals)) ++sealed;
  }
  return in_groups(exchange.out, at_once, is_encoded) + in_batches(sealed);
}

// Decodes and sums after an exchange, of which the last finishes slots; else that is a step of its
// own.
std::uint64_t opens(const SlotExchange& exchange, int at_once, std::uint64_t sums) {
  const auto came = static_cast<std::uint64_t>(std::ranges::count_if(exchange.in, comes_in_slot));
  const std::uint64_t finishes = sums > 0 && came > 0 ? in_batches(came) - 1 : in_batches(came);
  return in_groups(exchange.in, at_once, comes_in_slot) + finishes + sums;
}

}  // namespace

std::uint64_t SlotPlan::launches() const {
  const bool seals = settings_.spec.codec != nullptr && settings_.spec.codec->device != nullptr &&
                     settings_.spec.codec->device->seals;
  const int last = stages() - 1, before = tells_first() ? 1 : 0;
  const bool differs = difference_.exists;
  std::uint64_t steps = tells_first() ? 2 : 0;  // a rank's range, and the bound of all
  if (factors_.exist) ++steps;
  steps += packs_.size() + unpacks_.size();
  for (int stage = 0; stage < last; ++stage) steps += static_cast<std::uint64_t>(rounds(stage));
  for (int stage = before; stage <= last; ++stage) {
    const int came = stage - before - 1;
    const auto sums = static_cast<std::uint64_t>(std::ranges::count(sums_, came, &SlotSum::after));
    std::uint64_t of_stage = 0;
    if (came >= 0 || sums > 0)
      of_stage = opens(came < 0 ? SlotExchange{} : exchange(came), blocks_at_once_, sums);
    if (stage < last) of_stage += encodes(exchange(came + 1), blocks_at_once_, seals);
    // A report is a step of its own where nothing else is the last one.
    if (stage == last && (of_stage == 0 || differs)) ++of_stage;
    steps += of_stage;
  }
  // A reference is looked for, matched, and the result restored; before that, in levels, what goes
  // on to other ranks.
  if (differs) {
    steps += difference_.sends ? 3 : 2;
    if (last > 1) steps += in_batches(exchange(0).in.size());
  }
  return steps;
}

std::uint64_t SlotPlan::messages() const {
  std::uint64_t count = 0;
  for (const SlotExchange& each : exchanges_) {
    if (each.kind != SlotExchange::Kind::kMessages) continue;
    count += each.out.size() +
             static_cast<std::uint64_t>(std::ranges::count(each.in, false, &SlotTask::own));
  }
  return count;
}

std::uint64_t SlotPlan::peers() const {
  std::set<int> ranks;
  for (const SlotExchange& each : exchanges_) {
    if (each.kind != SlotExchange::Kind::kMessages) continue;
    for (const SlotTask& task : each.out) ranks.insert(task.rank);
    for (const SlotTask& task : each.in) {
      if (!task.own) ranks.insert(task.rank);
    }
  }
  return ranks.size();
}

}  // namespace thinwire::collective
