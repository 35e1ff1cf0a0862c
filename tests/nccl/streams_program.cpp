// Calls on two streams of one communicator, as sharded training has them: on one stream large
// gathers that stay raw, on the other sums that get smaller, which wait for the gathers. Prints
// "ok" if results are right.
//
// streams_program CALLS noise|integers   what is gathered
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ranks.h"

namespace {

constexpr int kRanks = 2;
constexpr std::size_t kGathered = 1'600'000, kSummed = 80'000;

std::atomic<int> failures{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

// No float of these has the exponent of the one before.
std::uint32_t word(int rank, std::size_t at) {
  const std::uint64_t mixed =
      (at * kRanks + static_cast<std::size_t>(rank) + 1) * std::uint64_t{0x9E3779B97F4A7C15};
  return static_cast<std::uint32_t>(mixed >> 32) & 0xBFFFFFFFU;
}

float value(int rank, std::size_t at) { return static_cast<float>(at / 64 % 512 + 100U * rank); }

void work(ranks::Rank& self, int calls, ncclDataType_t type) {
  std::vector<std::uint32_t> mine(kGathered), all(kRanks * kGathered);
  std::vector<float> given(kRanks * kSummed), summed(kSummed);
  for (std::size_t at = 0; at < mine.size(); ++at) mine[at] = word(self.rank, at);
  for (std::size_t at = 0; at < given.size(); ++at) given[at] = value(self.rank, at);
  cudaStream_t other{};
  cudaStreamCreate(&other);
  for (int call = 0; call < calls; ++call) {
    ncclAllGather(mine.data(), all.data(), kGathered, type, self.comm, other);
    ncclReduceScatter(given.data(), summed.data(), kSummed, ncclFloat32, ncclSum, self.comm,
                      self.stream);
    cudaStreamSynchronize(other);
    self.synchronize();
    for (std::size_t at = 0; at < kSummed; at += 97) {
      const std::size_t from = static_cast<std::size_t>(self.rank) * kSummed + at;
      expect(summed[at] == value(0, from) + value(1, from), "a sum");
      expect(all[kGathered + at] == word(1, at), "what was gathered");
    }
  }
  cudaStreamDestroy(other);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const ncclDataType_t type = words[2] == std::string("noise") ? ncclFloat32 : ncclInt32;
  ranks::run(kRanks, [&](ranks::Rank& self) { work(self, std::atoi(words[1]), type); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
