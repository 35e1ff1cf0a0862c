// Compressed calls on memory that NCCL has allocated or that is registered with it: gathers and
// sums, in place and not, before and after it is registered, and after it no longer is. Knows
// nothing of Thinwire and checks all values. Prints "ok".
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "nccl_registration.h"
#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 16, kBytes = sizeof(float) * kCount;
constexpr int kAgree = 200;  // calls, after which they are compressed
constexpr int kCalls = 40;

void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "failed: %s: %d\n", what, static_cast<int>(result));
  std::_Exit(1);
}

// Whole numbers, exact in sums of any order.
float value(int rank, std::size_t at, int call) {
  return static_cast<float>(at / 64 + 3 * static_cast<std::size_t>(rank)) +
         static_cast<float>(call % 64);
}

// Arrays of both operations, a piece of memory each.
struct Arrays {
  std::byte* mine;
  std::byte* sum;
  std::byte* all;  // of all ranks
};

class Calls {
 public:
  Calls(const ranks::Rank& self, const Arrays& arrays) : self_(self), arrays_(arrays) {}

  void make(int calls, const std::string& when) {
    for (int call = 0; call < calls; ++call) make_one(call, call % 3 == 1, when);
  }

 private:
  void make_one(int call, bool in_place, const std::string& when) {
    const auto own = static_cast<std::size_t>(self_.rank) * kBytes;
    std::byte* const to_gather = in_place ? arrays_.all + own : arrays_.mine;
    std::byte* const to_sum = in_place ? arrays_.sum : arrays_.mine;
    std::vector<float> values(kCount);
    for (std::size_t at = 0; at < kCount; ++at) values[at] = value(self_.rank, at, call);
    world::write(to_gather, values.data(), kBytes);
    world::write(to_sum, values.data(), kBytes);
    check(ncclAllGather(to_gather, arrays_.all, kCount, ncclFloat32, self_.comm, self_.stream),
          "ncclAllGather");
    check(
        ncclAllReduce(to_sum, arrays_.sum, kCount, ncclFloat32, ncclSum, self_.comm, self_.stream),
        "ncclAllReduce");
    self_.synchronize();
    std::vector<float> sums(kCount);
    for (int rank = 0; rank < self_.ranks; ++rank) {
      std::vector<float> theirs(kCount);
      for (std::size_t at = 0; at < kCount; ++at) {
        theirs[at] = value(rank, at, call);
        sums[at] += theirs[at];
      }
      expect(arrays_.all + static_cast<std::size_t>(rank) * kBytes, theirs, "a gather " + when);
    }
    expect(arrays_.sum, sums, "a sum " + when);
  }

  static void expect(const std::byte* at, const std::vector<float>& values,
                     const std::string& what) {
    std::vector<float> found(kCount);
    world::read(found.data(), at, kBytes);
    if (found == values) return;
    std::fprintf(stderr, "wrong: %s\n", what.c_str());
    std::_Exit(1);
  }

  const ranks::Rank& self_;
  const Arrays arrays_;
};

Arrays parts_of(std::byte* memory) { return {memory, memory + kBytes, memory + 2 * kBytes}; }

// Registered and no longer.
void on(ranks::Rank& self, std::byte* memory, std::size_t bytes, const std::string& whose) {
  Calls calls(self, parts_of(memory));
  calls.make(kCalls, "in " + whose);
  void* handle = nullptr;
  check(ncclCommRegister(self.comm, memory, bytes, &handle), "ncclCommRegister");
  calls.make(kCalls, "in registered " + whose);
  check(ncclCommDeregister(self.comm, handle), "ncclCommDeregister");
  calls.make(kCalls, "in " + whose + " that was registered");
}

void run(ranks::Rank& self) {
  const std::size_t bytes = kBytes * (2 + static_cast<std::size_t>(self.ranks));
  world::Arena arena;
  std::byte* const usual = arena.take(bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // ranks find each other
  Calls(self, parts_of(usual)).make(kAgree, "before");
  on(self, usual, bytes, "CUDA's memory");
  void* allocated = nullptr;
  check(ncclMemAlloc(&allocated, bytes), "ncclMemAlloc");
  on(self, static_cast<std::byte*>(allocated), bytes, "NCCL's memory");
  check(ncclMemFree(allocated), "ncclMemFree");
}

}  // namespace

int main() {
  ranks::run(ranks::count(2), run);
  std::puts("ok");
}
