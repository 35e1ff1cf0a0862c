// An NCCL program of several ranks, threads of it, that knows nothing of Thinwire: a few calls of
// each kind, whose results it checks. Prints "ok".
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "ranks.h"

namespace {

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

constexpr std::size_t kCount = 1 << 15;

void sums(ranks::Rank& self) {
  std::vector<float> data(kCount, 1.0F + self.rank), block(kCount / 4);
  ncclAllReduce(data.data(), data.data(), kCount, ncclFloat32, ncclSum, self.comm, self.stream);
  ncclReduceScatter(data.data(), block.data(), kCount / 4, ncclFloat32, ncclMax, self.comm,
                    self.stream);
  ncclAllReduce(data.data(), data.data(), 8, ncclFloat32, ncclSum, self.comm, self.stream);
  self.synchronize();
  expect(data[kCount - 1] == 10 && data[0] == 40, "AllReduce", self.rank);
  expect(block[1] == 10, "ReduceScatter", self.rank);
}

void moves(ranks::Rank& self) {
  std::vector<float> one(kCount, static_cast<float>(self.rank)), all(4 * kCount);
  std::vector<int> words(kCount, self.rank);
  ncclAllGather(one.data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
  ncclBcast(words.data(), kCount, ncclInt32, 3, self.comm, self.stream);
  self.synchronize();
  expect(all[3 * kCount] == 3, "AllGather", self.rank);
  expect(words[9] == 3, "Bcast", self.rank);
}

void messages(ranks::Rank& self) {
  std::vector<float> one(kCount, static_cast<float>(self.rank)), got(kCount);
  ncclGroupStart();
  ncclSend(one.data(), kCount, ncclFloat32, (self.rank + 1) % 4, self.comm, self.stream);
  ncclRecv(got.data(), kCount, ncclFloat32, (self.rank + 3) % 4, self.comm, self.stream);
  ncclGroupEnd();
  self.synchronize();
  expect(got[5] == static_cast<float>((self.rank + 3) % 4), "Send and Recv", self.rank);
}

int run_calls() {
  ranks::run(4, [](ranks::Rank& self) {
    sums(self);
    moves(self);
    messages(self);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace

#ifdef NCCL_INSIDE
// As NCCL has it, for what it says when it starts.
const char* volatile nccl_says = "NCCL version 2.28.9+cuda13.0";
#endif

#ifdef NCCL_MODULE
extern "C" __attribute__((visibility("default"))) int run() { return run_calls(); }
#else
int main() { return run_calls(); }
#endif
