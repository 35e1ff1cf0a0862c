// Ranks that come late and ranks that go early, each a process.
//
// times_program late SECONDS         rank 1 begins so much later
// times_program leaves SECONDS       rank 0 ends communicator and process once calls are
// compressed, times_program stays SECONDS        the same, but it leaves its communicator alive;
//                                    the others exchange messages for so long
// Prints "ok" if results are right and no call failed.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 12'000;
constexpr int kTogether = 400;  // steps, until calls are compressed

int failures = 0;

void expect(bool holds, const char* what, int step) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s, step %d\n", what, step);
  ++failures;
}

float value(int rank, int step, std::size_t at) {
  return static_cast<float>(at / 64 + static_cast<std::size_t>(100 * rank + step));
}

// Round a ring of the ranks from `first` on.
void exchange(ranks::Rank& self, int first, int step) {
  const int others = self.ranks - first, own = self.rank - first;
  const int next = first + (own + 1) % others, before = first + (own + others - 1) % others;
  std::vector<float> mine(kCount), came(kCount);
  for (std::size_t at = 0; at < kCount; ++at) mine[at] = value(self.rank, step, at);
  ncclGroupStart();
  ncclSend(mine.data(), kCount, ncclFloat32, next, self.comm, self.stream);
  ncclRecv(came.data(), kCount, ncclFloat32, before, self.comm, self.stream);
  expect(ranks::final_result(ncclGroupEnd()) == ncclSuccess, "messages", step);
  self.synchronize();
  for (std::size_t at = 0; at < kCount; at += 61) {
    if (came[at] != value(before, step, at)) return expect(false, "what came", step);
  }
}

void gather(ranks::Rank& self, int step) {
  std::vector<float> mine(kCount), all(kCount * static_cast<std::size_t>(self.ranks));
  for (std::size_t at = 0; at < kCount; ++at) mine[at] = value(self.rank, step, at);
  const ncclResult_t result =
      ncclAllGather(mine.data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
  expect(ranks::final_result(result) == ncclSuccess, "AllGather", step);
  self.synchronize();
  for (std::size_t at = 0; at < all.size(); at += 61) {
    const int rank = static_cast<int>(at / kCount);
    if (all[at] != value(rank, step, at % kCount)) return expect(false, "what was gathered", step);
  }
}

void work(ranks::Rank& self, const std::string& mode, int seconds) {
  usleep(300'000);  // until it is known who has the library
  for (int step = 0; step < kTogether && failures == 0; ++step) {
    gather(self, step);
    exchange(self, 0, step);
  }
  if (mode == "late") return;
  // Pairs that are not of the ring of all are compressed a while later.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  if (self.rank == 0 && mode == "stays") self.comm = nullptr;
  for (int step = kTogether; self.rank > 0 && failures == 0; ++step) {
    // Each makes as many: rank 1 says when it is over, to the one after it and so on.
    int over = self.rank == 1 && std::chrono::steady_clock::now() > end ? 1 : 0;
    if (self.rank > 1) {
      ncclRecv(&over, 1, ncclInt32, self.rank - 1, self.comm, self.stream);
      self.synchronize();
    }
    if (self.rank + 1 < self.ranks) {
      ncclSend(&over, 1, ncclInt32, self.rank + 1, self.comm, self.stream);
      self.synchronize();
    }
    if (over != 0) break;
    exchange(self, 1, step);
    usleep(10'000);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::string mode = words[1];
  const int seconds = std::atoi(words[2]);
  if (mode == "late" && ranks::own() == 1) sleep(static_cast<unsigned>(seconds));
  ranks::run(ranks::count(2), [&](ranks::Rank& self) { work(self, mode, seconds); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
