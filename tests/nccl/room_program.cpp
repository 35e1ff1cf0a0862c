// Ranks, processes of their own, that add arrays again and again while their GPUs, which are none
// (fake_nccl/device_memory.h), get full. Prints "ok".
//
// room_program CALLS [AT LEFT]   from call AT on rank 1's GPU has LEFT bytes free
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "ranks.h"

extern "C" void fakeGpuTake(long long bytes);
extern "C" int cudaMemGetInfo(std::size_t* left, std::size_t* whole);

namespace {

constexpr std::size_t kCount = 20'000;

void leave(long long bytes) {
  std::size_t left = 0, whole = 0;
  if (cudaMemGetInfo(&left, &whole) == 0) fakeGpuTake(static_cast<long long>(left) - bytes);
}

void expect(bool holds, const char* what, int call) {
  if (holds) return;
  std::fprintf(stderr, "call %d: wrong: %s\n", call, what);
  std::_Exit(1);
}

}  // namespace

int main(int count, char** words) {
  const int calls = std::atoi(words[1]);
  const int at = count > 2 ? std::atoi(words[2]) : -1;
  ranks::run(ranks::count(3), [&](ranks::Rank& self) {
    std::vector<float> mine(kCount), sums(kCount);
    for (int call = 0; call < calls; ++call) {
      if (call == at && self.rank == 1) leave(std::atoll(words[3]));
      for (std::size_t each = 0; each < kCount; ++each) {
        mine[each] = static_cast<float>(each / 64 + static_cast<std::size_t>(call));
      }
      const ncclResult_t made = ncclAllReduce(mine.data(), sums.data(), kCount, ncclFloat32,
                                              ncclSum, self.comm, self.stream);
      expect(made == ncclSuccess, "the call", call);
      self.synchronize();
      for (std::size_t each = 0; each < kCount; each += 61) {
        expect(sums[each] == static_cast<float>(self.ranks) * mine[each], "a sum", call);
      }
      // Ranks agree meanwhile, also on a busy machine.
      std::this_thread::sleep_for(std::chrono::milliseconds(8));
    }
  });
  std::puts("ok");
  return 0;
}
