// An NCCL program of several ranks, threads of it, that knows nothing of Thinwire: a few calls of
// each kind, whose results it checks. Prints "ok".
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "fake_nccl/registration.h"
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

// Gathers bytes, as programs with mixed types do, in memory of NCCL's that has been registered in
// both ways.
void registered(ranks::Rank& self) {
  constexpr std::size_t kBytes = sizeof(float) * kCount;
  void *memory = nullptr, *handle = nullptr;
  ncclWindow_t window = nullptr;
  expect(ncclMemAlloc(&memory, 4 * kBytes) == ncclSuccess, "MemAlloc", self.rank);
  expect(ncclCommRegister(self.comm, memory, 4 * kBytes, &handle) == ncclSuccess, "Register",
         self.rank);
  expect(ncclCommWindowRegister(self.comm, memory, kBytes, &window, NCCL_WIN_COLL_SYMMETRIC) ==
             ncclSuccess,
         "WindowRegister", self.rank);
  const auto& known = *static_cast<fake_nccl::Registered*>(handle);
  expect(known.comm == self.comm && known.memory == memory && known.bytes == 4 * kBytes,
         "what Register was given", self.rank);
  expect(window->comm == self.comm && window->memory == memory && window->bytes == kBytes &&
             window->flags == NCCL_WIN_COLL_SYMMETRIC,
         "what WindowRegister was given", self.rank);

  const std::vector<unsigned char> mine(kBytes, static_cast<unsigned char>(self.rank + 1));
  ncclAllGather(mine.data(), memory, kBytes, ncclUint8, self.comm, self.stream);
  self.synchronize();
  expect(static_cast<unsigned char*>(memory)[3 * kBytes] == 4, "AllGather of bytes", self.rank);

  expect(ncclCommWindowDeregister(self.comm, window) == ncclSuccess, "its end", self.rank);
  expect(ncclCommDeregister(self.comm, handle) == ncclSuccess, "Deregister", self.rank);
  expect(ncclCommDeregister(self.comm, handle) == ncclInvalidArgument, "again", self.rank);
  expect(ncclMemFree(memory) == ncclSuccess, "MemFree", self.rank);
}

int run_calls() {
  ranks::run(4, [](ranks::Rank& self) {
    sums(self);
    moves(self);
    messages(self);
    registered(self);
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
