// An NCCL program in whose process ranks begin again and again: on each communicator they send to
// each other until that is compressed, then NCCL refuses one rank's call and both abort. The memory
// that the library takes for all of it is counted: what an earlier communicator had has to serve
// the later ones. Prints "ok".
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "ranks.h"

extern "C" void fakeNcclRefuseSends(bool refuses);

namespace {

constexpr int kRanks = 2, kRounds = 6, kFirst = 2;
constexpr std::size_t kCount = 300'000;
constexpr int kCalls = 150;                // ranks have agreed by then
constexpr std::size_t kLarge = 256 << 10;  // of what calls work in
constexpr std::size_t kSlab = 4 << 20;     // of records and mailboxes

std::atomic<std::uint64_t> taken{0};

}  // namespace

// The library's memory comes from here.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  if (bytes >= kLarge && bytes != kSlab) taken += bytes;
  return memory;
}

namespace {

// The other would wait for this rank for ever.
void expect(bool holds, const char* what, int rank, int round) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, round %d: wrong: %s\n", rank, round, what);
  std::_Exit(1);
}

struct Shared {
  std::barrier<> all{kRanks};
  std::array<ncclUniqueId, kRounds> ids = [] {
    std::array<ncclUniqueId, kRounds> made;
    for (ncclUniqueId& each : made) each = ranks::new_id();
    return made;
  }();
  std::array<std::uint64_t, kRounds> taken_after{};
};

ncclResult_t exchange(ncclComm_t comm, const ranks::Rank& self, const std::vector<float>& own,
                      std::vector<float>& came) {
  const int peer = 1 - self.rank;
  ncclGroupStart();
  ncclSend(own.data(), kCount, ncclFloat32, peer, comm, self.stream);
  ncclRecv(came.data(), kCount, ncclFloat32, peer, comm, self.stream);
  return ncclGroupEnd();
}

void run(ranks::Rank& self, Shared& shared) {
  std::vector<float> own(kCount), came(kCount);
  for (std::size_t at = 0; at < kCount; ++at) own[at] = static_cast<float>(at / 64);
  for (int round = 0; round < kRounds; ++round) {
    const auto index = static_cast<std::size_t>(round);
    ncclComm_t comm = nullptr;
    const ncclResult_t made = ncclCommInitRank(&comm, kRanks, shared.ids[index], self.rank);
    expect(made == ncclSuccess, "a new communicator", self.rank, round);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // ranks find each other
    for (int call = 0; call < kCalls; ++call) {
      expect(exchange(comm, self, own, came) == ncclSuccess, "a call", self.rank, round);
      self.synchronize();
    }
    expect(came == own, "values", self.rank, round);
    shared.all.arrive_and_wait();
    if (self.rank == 1) {
      fakeNcclRefuseSends(true);
      expect(exchange(comm, self, own, came) != ncclSuccess, "a refused call", 1, round);
      fakeNcclRefuseSends(false);
    } else {
      exchange(comm, self, own, came);
    }
    expect(ncclCommAbort(comm) == ncclSuccess, "an abort", self.rank, round);
    self.synchronize();
    // Memory is given back by another thread.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    shared.all.arrive_and_wait();
    if (self.rank == 0) shared.taken_after[index] = taken;
    shared.all.arrive_and_wait();
  }
  const std::uint64_t first = shared.taken_after[kFirst], last = shared.taken_after.back();
  if (self.rank != 0 || last == first) return;
  std::fprintf(stderr, "after %d rounds %llu bytes, then %llu\n", kFirst + 1,
               static_cast<unsigned long long>(first), static_cast<unsigned long long>(last));
  std::_Exit(1);
}

}  // namespace

int main() {
  Shared shared;
  ranks::run(kRanks, [&](ranks::Rank& self) { run(self, shared); });
  std::puts("ok");
  return 0;
}
