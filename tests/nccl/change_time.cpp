// Times a change of data that stop getting smaller in the middle of a run of calls which the host
// has enqueued: gathers of 4 MiB a rank, so many ahead of the stream, whose values change at call
// AT of CALLS. Rank 0 prints, in milliseconds, a call before the change, a call long after it,
// which is raw, and how much more than that all calls from the change on took; and this in raw
// calls.
//
// change_time CALLS AT AHEAD
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 20;
constexpr int kSteady = 20;  // the last calls

struct Plan {
  int calls, at, ahead;
};

std::uint32_t scramble(std::uint32_t word) {
  word = (word ^ word >> 16) * 0x45D9F3BU;
  return (word ^ word >> 16) * 0x45D9F3BU ^ word >> 7;
}

// Before the change integers of 20 bits, of which two thirds are left.
float value(int rank, std::size_t at, bool is_noise) {
  const auto seed = static_cast<std::uint32_t>(at * 31 + static_cast<std::size_t>(rank) * 77);
  if (!is_noise) return static_cast<float>(scramble(seed) >> 12);
  return static_cast<float>(scramble(seed)) * (scramble(seed + 5) % 2 == 0 ? 1e-20F : 1e9F);
}

double now() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// When each call was complete, as the stream says it.
struct Ends {
  std::vector<double> times;
  std::atomic<int> count{0};
};

void note_end(void* of) {
  auto* const ends = static_cast<Ends*>(of);
  ends->times[static_cast<std::size_t>(ends->count.load())] = now();
  ++ends->count;
}

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + std::ssize(of) / 2);
  return of[of.size() / 2];
}

// The median time of a call, of `count` calls from `from` on.
double each(const Ends& ends, int from, int count) {
  std::vector<double> took;
  for (int call = from; call < from + count; ++call) {
    const auto at = static_cast<std::size_t>(call);
    took.push_back(ends.times[at] - ends.times[at - 1]);
  }
  return median(std::move(took));
}

void print(const Ends& ends, const Plan& plan) {
  const double coded = each(ends, plan.at - kSteady, kSteady);
  const double raw = each(ends, plan.calls - kSteady, kSteady);
  const auto at = static_cast<std::size_t>(plan.at);
  const double all = ends.times.back() - ends.times[at - 1];
  const double more = all - raw * (plan.calls - plan.at);
  std::printf(
      "{\"coded_ms\": %.2f, \"raw_ms\": %.2f, \"more_ms\": %.1f, \"more_raw_calls\": %.2f}\n",
      coded, raw, more, more / raw);
}

bool is_right(const std::vector<float>& all, int ranks, bool is_noise) {
  for (std::size_t at = 0; at < kCount; at += 97) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto from = static_cast<std::size_t>(rank) * kCount;
      if (all[from + at] != value(rank, at, is_noise)) return false;
    }
  }
  return true;
}

void work(ranks::Rank& self, const Plan& plan) {
  std::vector<float> mine[2], all(static_cast<std::size_t>(self.ranks) * kCount);
  for (const bool is_noise : {false, true}) {
    for (std::size_t at = 0; at < kCount; ++at) {
      mine[is_noise].push_back(value(self.rank, at, is_noise));
    }
  }
  Ends ends;
  ends.times.resize(static_cast<std::size_t>(plan.calls));
  for (int call = 0; call < plan.calls; ++call) {
    while (call - ends.count >= plan.ahead) usleep(100);
    const float* const from = mine[call >= plan.at].data();
    const ncclResult_t result =
        ncclAllGather(from, all.data(), kCount, ncclFloat32, self.comm, self.stream);
    if (result != ncclSuccess) std::_Exit(1);
    cudaLaunchHostFunc(self.stream, note_end, &ends);
  }
  self.synchronize();
  if (!is_right(all, self.ranks, true)) std::_Exit(1);
  if (self.rank == 0) print(ends, plan);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const Plan plan{std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3])};
  if (plan.at <= kSteady || plan.calls - plan.at <= kSteady || plan.ahead < 1) return 2;
  ranks::run(ranks::count(2), [&](ranks::Rank& self) { work(self, plan); });
  return 0;
}
