// Gathers whose values stop getting smaller: for `PERIOD` calls they do, then for as many they do
// not, and so on. Ranks make so many calls before they wait for them. Prints "ok" if results are
// right.
//
// spills_program CALLS PERIOD AHEAD
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 300'000;  // more than a mebibyte, which counts as much

std::atomic<int> failures{0};

struct Plan {
  int calls, period, ahead;
};

std::uint32_t scramble(std::uint32_t word) {
  word = (word ^ word >> 16) * 0x45D9F3BU;
  return (word ^ word >> 16) * 0x45D9F3BU ^ word >> 7;
}

float value(int rank, std::size_t at, bool is_noise) {
  if (!is_noise) return static_cast<float>(at / 64 % 512 + 100U * static_cast<unsigned>(rank));
  const auto seed = static_cast<std::uint32_t>(at * 31 + static_cast<std::size_t>(rank) * 77);
  return static_cast<float>(scramble(seed)) * (scramble(seed + 5) % 2 == 0 ? 1e-20F : 1e9F);
}

void work(ranks::Rank& self, const Plan& plan) {
  const auto ranks = static_cast<std::size_t>(self.ranks);
  std::vector<float> mine[2], all(ranks * kCount);
  for (const bool is_noise : {false, true}) {
    mine[is_noise].resize(kCount);
    for (std::size_t at = 0; at < kCount; ++at) {
      mine[is_noise][at] = value(self.rank, at, is_noise);
    }
  }
  for (int call = 0; call < plan.calls && failures == 0; ++call) {
    const bool is_noise = call / plan.period % 2 != 0;
    ncclAllGather(mine[is_noise].data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
    if ((call + 1) % plan.ahead != 0) continue;
    self.synchronize();
    for (std::size_t at = 0; at < kCount; at += 97) {
      for (int rank = 0; rank < self.ranks; ++rank) {
        const auto from = static_cast<std::size_t>(rank) * kCount;
        if (all[from + at] != value(rank, at, is_noise)) ++failures;
      }
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const Plan plan{std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3])};
  ranks::run(ranks::count(2), [&](ranks::Rank& self) { work(self, plan); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
