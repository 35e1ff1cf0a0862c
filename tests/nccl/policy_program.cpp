// An NCCL program with communicators of different names: "dp0", "tp0", and a part of the latter
// without a configuration. Their calls come again and again in two sizes of one octave; what they
// come to is checked: of "tp0" to the bit, of "dp0" within what eight bits a value leave. Prints
// "ok".
//
// policy_program CALLS [by-rank]  by-rank: the first is called "dp" and the rank
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCounts[] = {6'000, 7'000};
constexpr std::size_t kMost = 7'000;

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, int call) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, call %d: wrong: %s\n", rank, call, what);
  ++failures;
}

// With a configuration as NCCL from 2.27 on has it, or, without a name, none.
ncclComm_t part_of(ncclComm_t comm, int rank, const char* name) {
  alignas(8) char config[56] = {};
  const ncclConfig_t head{sizeof config, 0xcafebeef, 22809, 1};
  std::memcpy(config, &head, 20);
  std::memcpy(config + 48, &name, sizeof name);
  ncclComm_t made = nullptr;
  auto* const given = name == nullptr ? nullptr : reinterpret_cast<ncclConfig_t*>(config);
  ncclCommSplit(comm, 0, rank, &made, given);
  return made;
}

// Sums of these are exact in any order.
float value(int rank, int call, std::size_t at) {
  return static_cast<float>((at / 4 + static_cast<std::size_t>(call)) % 1000) / 8 +
         static_cast<float>(rank);
}

struct Arrays {
  std::vector<float> mine = std::vector<float>(kMost), all = std::vector<float>(kMost);
  std::vector<int> whole = std::vector<int>(kMost), gathered;
};

void check_sums(const Arrays& arrays, const ranks::Rank& self, int call, float most) {
  for (std::size_t at = 0; at < kCounts[call % 2]; at += 3) {
    float sum = 0;
    for (int rank = 0; rank < self.ranks; ++rank) sum += value(rank, call, at);
    if (!(std::fabs(arrays.all[at] - sum) <= most))
      return expect(false, "AllReduce", self.rank, call);
  }
}

void sum(const ranks::Rank& self, ncclComm_t comm, Arrays& arrays, int call, float most) {
  ncclAllReduce(arrays.mine.data(), arrays.all.data(), kCounts[call % 2], ncclFloat32, ncclSum,
                comm, self.stream);
  self.synchronize();
  check_sums(arrays, self, call, most);
}

void gather_integers(const ranks::Rank& self, ncclComm_t comm, Arrays& arrays, int call) {
  for (std::size_t at = 0; at < kMost; ++at) arrays.whole[at] = self.rank + call;
  ncclAllGather(arrays.whole.data(), arrays.gathered.data(), kMost, ncclInt32, comm, self.stream);
  self.synchronize();
  for (int rank = 0; rank < self.ranks; ++rank) {
    const int got = arrays.gathered[static_cast<std::size_t>(rank) * kMost + 17];
    expect(got == rank + call, "AllGather of integers", self.rank, call);
  }
}

void pass_round(const ranks::Rank& self, ncclComm_t comm, Arrays& arrays, int call) {
  const int next = (self.rank + 1) % self.ranks;
  const int last = (self.rank + self.ranks - 1) % self.ranks;
  ncclGroupStart();
  ncclSend(arrays.mine.data(), kMost, ncclFloat32, next, comm, self.stream);
  ncclRecv(arrays.all.data(), kMost, ncclFloat32, last, comm, self.stream);
  ncclGroupEnd();
  self.synchronize();
  bool right = true;
  for (std::size_t at = 0; at < kMost; ++at)
    right = right && arrays.all[at] == value(last, call, at);
  expect(right, "Recv", self.rank, call);
}

void work(ranks::Rank& self, int calls, bool by_rank) {
  const std::string of_rank = "dp" + std::to_string(self.rank);
  const ncclComm_t dp = part_of(self.comm, self.rank, by_rank ? of_rank.c_str() : "dp0");
  const ncclComm_t tp = part_of(self.comm, self.rank, "tp0");
  const ncclComm_t inherited = part_of(tp, self.rank, nullptr);
  Arrays arrays;
  arrays.gathered.resize(static_cast<std::size_t>(self.ranks) * kMost);
  for (int call = 0; call < calls; ++call) {
    for (std::size_t at = 0; at < kMost; ++at) arrays.mine[at] = value(self.rank, call, at);
    sum(self, dp, arrays, call, 8);
    sum(self, tp, arrays, call, 0);
    sum(self, inherited, arrays, call, 0);
    gather_integers(self, dp, arrays, call);
    pass_round(self, dp, arrays, call);
  }
  for (const ncclComm_t each : {dp, inherited, tp}) ncclCommDestroy(each);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const int calls = std::atoi(words[1]);
  const bool by_rank = count > 2 && std::strcmp(words[2], "by-rank") == 0;
  ranks::run(ranks::count(4), [&](ranks::Rank& self) { work(self, calls, by_rank); });
  if (failures != 0) return 1;
  std::puts("ok");
  return 0;
}
