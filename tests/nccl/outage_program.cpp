// Steps of training whose helpers may lose their network: gathers, sums and messages round a ring,
// until a file `stop` is in the folder. In steps in which a file `noise` is there gathers and
// messages do not get smaller. Rank 0 writes when each step ended, of the machine's monotonic
// clock, to `steps` there. Prints "ok" if results are right and no call failed.
//
// outage_program FOLDER
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 16 << 10;

enum Says : std::int32_t { kSmooth, kNoise, kStop };

int failures = 0;

void expect(bool holds, const char* what, int step) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s, step %d\n", what, step);
  ++failures;
}

std::uint32_t scramble(std::uint32_t word) {
  word = (word ^ word >> 16) * 0x45D9F3BU;
  return (word ^ word >> 16) * 0x45D9F3BU ^ word >> 7;
}

// Smooth ones are integers, so that sums have one value in whatever order.
float value(int rank, int step, std::size_t at, bool is_noise) {
  const auto own = static_cast<std::size_t>(rank * 77 + step);
  if (!is_noise) return static_cast<float>(at / 64 % 512 + own);
  const auto seed = static_cast<std::uint32_t>(at * 31 + own);
  return static_cast<float>(scramble(seed)) * (scramble(seed + 5) % 2 == 0 ? 1e-20F : 1e9F);
}

struct Arrays {
  explicit Arrays(int ranks) : all(static_cast<std::size_t>(ranks) * kCount) {}
  std::vector<float> mine = std::vector<float>(kCount), all;
  std::vector<float> terms = mine, sum = mine, came = mine;
};

Says ask_rank_0(ranks::Rank& self, const std::string& folder) {
  std::int32_t says = kSmooth;
  if (access((folder + "/noise").c_str(), R_OK) == 0) says = kNoise;
  if (access((folder + "/stop").c_str(), R_OK) == 0) says = kStop;
  ncclBroadcast(&says, &says, 1, ncclInt32, 0, self.comm, self.stream);
  self.synchronize();
  return static_cast<Says>(says);
}

void call_all(ranks::Rank& self, Arrays& arrays, int step) {
  const float* const mine = arrays.mine.data();
  const int next = (self.rank + 1) % self.ranks;
  const int before = (self.rank + self.ranks - 1) % self.ranks;
  ncclResult_t result =
      ncclAllGather(mine, arrays.all.data(), kCount, ncclFloat32, self.comm, self.stream);
  expect(result == ncclSuccess, "AllGather", step);
  result = ncclAllReduce(arrays.terms.data(), arrays.sum.data(), kCount, ncclFloat32, ncclSum,
                         self.comm, self.stream);
  expect(result == ncclSuccess, "AllReduce", step);
  ncclGroupStart();
  ncclSend(mine, kCount, ncclFloat32, next, self.comm, self.stream);
  ncclRecv(arrays.came.data(), kCount, ncclFloat32, before, self.comm, self.stream);
  expect(ncclGroupEnd() == ncclSuccess, "messages", step);
  self.synchronize();
}

void check(const ranks::Rank& self, const Arrays& arrays, int step, bool is_noise) {
  const int before = (self.rank + self.ranks - 1) % self.ranks;
  for (std::size_t at = 0; at < kCount; at += 61) {
    float sum = 0;
    for (int rank = 0; rank < self.ranks; ++rank) {
      sum += value(rank, step, at, false);
      const float got = arrays.all[static_cast<std::size_t>(rank) * kCount + at];
      if (got != value(rank, step, at, is_noise)) return expect(false, "what was gathered", step);
    }
    if (arrays.sum[at] != sum) return expect(false, "a sum", step);
    if (arrays.came[at] != value(before, step, at, is_noise)) {
      return expect(false, "a message", step);
    }
  }
}

void work(ranks::Rank& self, const std::string& folder) {
  std::ofstream steps;
  if (self.rank == 0) steps.open(folder + "/steps");
  Arrays arrays(self.ranks);
  for (int step = 0; failures == 0; ++step) {
    const Says says = ask_rank_0(self, folder);
    if (says == kStop) break;
    for (std::size_t at = 0; at < kCount; ++at) {
      arrays.mine[at] = value(self.rank, step, at, says == kNoise);
      arrays.terms[at] = value(self.rank, step, at, false);
    }
    call_all(self, arrays, step);
    check(self, arrays, step, says == kNoise);
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    if (self.rank == 0) steps << std::fixed << now.count() << std::endl;
    usleep(1000);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  ranks::run(ranks::count(2), [&](ranks::Rank& self) { work(self, words[1]); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
