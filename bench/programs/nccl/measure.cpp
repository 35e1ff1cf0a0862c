#include "nccl/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace thinwire::bench::nccl {
namespace {

using Clock = std::chrono::steady_clock;

// Ranks without the library are found out after 10 s. What ranks agree on they agree on in less,
// but for a machine that is busy with other things.
constexpr auto kMostTime = std::chrono::seconds(15);
constexpr auto kPause = std::chrono::milliseconds(200);
// Calls of a class come past the window in which ranks agree after some rounds.
constexpr int kRounds = 10;
constexpr auto kLittlePause = std::chrono::milliseconds(20);

// Reasons that pass, in the words of the library's report.
constexpr const char* kNotKnown = "not known yet who has the library";
constexpr const char* kNotAgreed = "not agreed yet for calls of this kind";
constexpr const char* kBeingTimed = "being timed, raw and compressed";

// While calls are timed so many in a row go one way; what goes on longer has been decided.
constexpr int kTimedCalls = 8;

bool passes(const std::string& reason) {
  return reason == kNotKnown || reason == kNotAgreed || reason == kBeingTimed;
}

// Why calls of this rank were not coded; empty if all were. A reason that passes comes first:
// messages to some ranks stay raw for good if others are yet to be agreed on.
std::string reason_of(const Counts& made) {
  if (made.calls == 0) return "the preload library for NCCL is not there, or its report is off";
  for (const auto& [reason, calls] : made.raw_by_reason) {
    if (calls > 0 && passes(reason)) return reason;
  }
  return made.calls == made.compressed_calls ? "" : made.reason();
}

// Until what calls of this way become is known on all ranks.
void warm_up(const Job& job, Turns& turns, Outcome& outcome) {
  if (outcome.way == Way::kRaw) return turns.warm_up(outcome.way);
  const auto start = Clock::now();
  int rounds = 0, steady = 0;
  bool are_timed = false;
  // All go on as long as any: each calls as often as the others.
  while (std::ranges::min(job.meeting.all(Clock::now() - start)) < kMostTime) {
    const Counts before = turns.counts(outcome.way);
    turns.warm_up(outcome.way);
    ++outcome.warm_up_calls;
    const Counts made = turns.counts(outcome.way).since(before);
    const std::vector<std::string> reasons = job.meeting.texts(reason_of(made));
    const auto raw = std::ranges::find_if(reasons, [](const auto& each) { return !each.empty(); });
    outcome.why_raw = raw == reasons.end() ? "" : *raw;
    const auto says = [&](const char* reason) { return std::ranges::count(reasons, reason) > 0; };
    are_timed = are_timed || says(kBeingTimed);
    if (std::ranges::none_of(reasons, passes)) {
      if (!are_timed || ++steady > kTimedCalls) return;
      continue;
    }
    steady = 0;
    if (says(kNotKnown)) {
      std::this_thread::sleep_for(kPause);
    } else {
      turns.count_on(outcome.way);
      if (++rounds > kRounds) std::this_thread::sleep_for(kLittlePause);
    }
  }
}

template <typename Value>
Value largest(const Job& job, Value own) {
  return std::ranges::max(job.meeting.all(own));
}

template <typename Value>
Value sum(const Job& job, Value own) {
  Value all{};
  for (const Value each : job.meeting.all(own)) all += each;
  return all;
}

void add_turn(const Job& job, Turns& turns, bool is_timed, Outcome& outcome) {
  const Taken own = turns.run(outcome.way);
  const double seconds = largest(job, own.whole), host = largest(job, own.host);
  if (is_timed) {
    outcome.seconds.push_back(seconds);
    outcome.host_seconds.push_back(host);
  }
  const Judgement judged = turns.judge(outcome.way);
  outcome.wrong += sum(job, judged.wrong);
  outcome.max_error = std::max(outcome.max_error, largest(job, judged.max_error));
  const double share = judged.energy > 0 ? std::sqrt(judged.error_energy / judged.energy) : 0;
  outcome.relative_error = std::max(outcome.relative_error, largest(job, share));
  // A rank that compares nothing takes no part in either.
  const bool compares = turns.gets_shared();
  const std::uint64_t most = largest(job, compares ? judged.hash : 0);
  const std::uint64_t least =
      std::ranges::min(job.meeting.all(compares ? judged.hash : UINT64_MAX));
  outcome.identical = outcome.identical && least >= most;
}

Counts sum_of(const Job& job, const Counts& own) {
  Counts all;
  all.calls = sum(job, own.calls);
  all.compressed_calls = sum(job, own.compressed_calls);
  all.bytes = sum(job, own.bytes);
  all.wire_bytes = sum(job, own.wire_bytes);
  all.spilled_blocks = sum(job, own.spilled_blocks);
  return all;
}

// Waits, as calls are counted a moment after the stream has come past them.
void wait_for_counts() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace

Measurement measure(const Job& job, Operation operation, std::int64_t bytes) {
  Turns turns(job, operation, bytes);
  Measurement all{operation, bytes, turns.count(), "", {}};
  for (const Way way : job.options.ways) {
    if (!goes(operation, way)) continue;
    Outcome& outcome = all.ways.emplace_back();
    outcome.way = way;
    warm_up(job, turns, outcome);
  }
  for (Outcome& each : all.ways) add_turn(job, turns, false, each);
  wait_for_counts();
  std::vector<Counts> before;
  std::vector<Phases> phases;
  for (const Outcome& each : all.ways) {
    before.push_back(turns.counts(each.way));
    phases.push_back(turns.phases(each.way));
  }
  for (int turn = 0; turn < job.options.iterations; ++turn) {
    // Each is first as often as any other.
    for (std::size_t at = 0; at < all.ways.size(); ++at) {
      add_turn(job, turns, true, all.ways[(at + static_cast<std::size_t>(turn)) % all.ways.size()]);
    }
  }
  wait_for_counts();
  for (std::size_t at = 0; at < all.ways.size(); ++at) {
    Outcome& each = all.ways[at];
    const Counts own = turns.counts(each.way).since(before[at]);
    each.counts = sum_of(job, own);
    each.phases = turns.phases(each.way).since(phases[at]);
    if (each.why_raw.empty()) each.why_raw = job.meeting.texts(own.reason()).front();
    std::ranges::sort(each.seconds);
    std::ranges::sort(each.host_seconds);
  }
  all.presence = job.library.presence();
  return all;
}

}  // namespace thinwire::bench::nccl
