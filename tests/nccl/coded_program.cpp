// An NCCL program whose calls come again and again, long enough for ranks to agree on compressing
// them: all operations, whose results it checks. Prints "ok".
//
// coded_program CALLS [noise]  noise: from the middle on values that do not get smaller
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 20'000;
constexpr int kRanks = 4;

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, int call) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, call %d: wrong: %s\n", rank, call, what);
  ++failures;
}

std::uint32_t scramble(std::uint32_t word) {
  word = (word ^ word >> 16) * 0x45D9F3BU;
  return (word ^ word >> 16) * 0x45D9F3BU ^ word >> 7;
}

// The value of a rank in a call. Values are whole numbers, whose sums are exact in any order.
float value(int rank, int call, std::size_t at, bool noise) {
  if (!noise)
    return static_cast<float>((at / 64 + static_cast<std::size_t>(call)) % 512 + 100 * rank);
  const auto seed = static_cast<std::uint32_t>(at * 31 + static_cast<std::size_t>(call) * 7 + rank);
  return static_cast<float>(scramble(seed) & 0xFFFFF) - 0x80000;
}

struct Arrays {
  std::vector<float> mine = std::vector<float>(kRanks * kCount);
  std::vector<float> all = std::vector<float>(kRanks * kCount);
  std::vector<float> some = std::vector<float>(kCount);
};

void fill(Arrays& arrays, int rank, int call, bool noise) {
  for (std::size_t at = 0; at < arrays.mine.size(); ++at) {
    arrays.mine[at] = value(rank, call, at, noise);
  }
}

float sum_at(int call, std::size_t at, bool noise) {
  float sum = 0;
  for (int rank = 0; rank < kRanks; ++rank) sum += value(rank, call, at, noise);
  return sum;
}

void moves(ranks::Rank& self, Arrays& arrays, int call, bool noise) {
  ncclAllGather(arrays.mine.data(), arrays.all.data(), kCount, ncclFloat32, self.comm, self.stream);
  const int root = call % 2;
  ncclBroadcast(arrays.mine.data(), arrays.some.data(), kCount, ncclFloat32, root, self.comm,
                self.stream);
  self.synchronize();
  for (std::size_t at = 0; at < kCount; at += 7) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const float expected = value(static_cast<int>(rank), call, at, noise);
      if (arrays.all[rank * kCount + at] != expected)
        return expect(false, "AllGather", self.rank, call);
    }
    if (arrays.some[at] != value(root, call, at, noise))
      return expect(false, "Broadcast", self.rank, call);
  }
}

void sums(ranks::Rank& self, Arrays& arrays, int call, bool noise) {
  ncclReduceScatter(arrays.mine.data(), arrays.some.data(), kCount, ncclFloat32, ncclSum, self.comm,
                    self.stream);
  ncclAllReduce(arrays.mine.data(), arrays.all.data(), kRanks * kCount, ncclFloat32, ncclAvg,
                self.comm, self.stream);
  self.synchronize();
  const std::size_t first = static_cast<std::size_t>(self.rank) * kCount;
  for (std::size_t at = 0; at < kCount; at += 7) {
    if (arrays.some[at] != sum_at(call, first + at, noise))
      return expect(false, "ReduceScatter", self.rank, call);
  }
  for (std::size_t at = 0; at < kRanks * kCount; at += 17) {
    if (arrays.all[at] != sum_at(call, at, noise) / kRanks)
      return expect(false, "AllReduce", self.rank, call);
  }
}

void messages(ranks::Rank& self, Arrays& arrays, int call, bool noise) {
  ncclGroupStart();
  ncclSend(arrays.mine.data(), kCount, ncclFloat32, (self.rank + 1) % kRanks, self.comm,
           self.stream);
  ncclRecv(arrays.some.data(), kCount, ncclFloat32, (self.rank + kRanks - 1) % kRanks, self.comm,
           self.stream);
  ncclGroupEnd();
  self.synchronize();
  for (std::size_t at = 0; at < kCount; at += 7) {
    if (arrays.some[at] != value((self.rank + kRanks - 1) % kRanks, call, at, noise)) {
      return expect(false, "Send and Recv", self.rank, call);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const int calls = count > 1 ? std::atoi(words[1]) : 400;
  const bool turns = count > 2;
  ranks::run(kRanks, [&](ranks::Rank& self) {
    Arrays arrays;
    for (int call = 0; call < calls && failures == 0; ++call) {
      const bool noise = turns && call > calls / 2;
      fill(arrays, self.rank, call, noise);
      moves(self, arrays, call, noise);
      sums(self, arrays, call, noise);
      messages(self, arrays, call, noise);
    }
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
