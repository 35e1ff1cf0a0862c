// An NCCL program of two ranks whose values are 8-bit floats, of both kinds: gathers, broadcasts
// and messages of values that get smaller, and sums. Knows nothing of Thinwire and checks all
// values. Prints "ok".
//
// float8_program CALLS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "ranks.h"

namespace {

using world::Bytes;

constexpr std::size_t kValues = 70'001;
constexpr ncclDataType_t kTypes[] = {ncclFloat8e4m3, ncclFloat8e5m2};

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, int call) {
  if (holds || ++failures > 5) return;
  std::fprintf(stderr, "rank %d, call %d: wrong: %s\n", rank, call, what);
}

// Any sign and mantissa, and few exponents.
Bytes values(ncclDataType_t type, int rank, int call) {
  const unsigned mantissa_bits = type == ncclFloat8e4m3 ? 3 : 2;
  Bytes made(kValues);
  std::uint32_t state = static_cast<std::uint32_t>(1 + rank + 2 * call);
  for (std::byte& value : made) {
    state = state * 1664525 + 1013904223;
    const unsigned around = state >> 24;  // sign and mantissa
    const unsigned exponent = 6 + (state >> 16 & 1) + (state >> 17 & 1);
    value = static_cast<std::byte>((around & ~(0x7Fu >> mantissa_bits << mantissa_bits)) |
                                   exponent << mantissa_bits);
  }
  return made;
}

// One half or one, by the place alone; a sum of two ranks is twice as much.
Bytes addends(ncclDataType_t type, unsigned doublings) {
  const unsigned mantissa_bits = type == ncclFloat8e4m3 ? 3 : 2;
  const unsigned half = type == ncclFloat8e4m3 ? 0x30 : 0x38;
  Bytes made(kValues);
  for (std::size_t at = 0; at < kValues; ++at) {
    const unsigned exponents = static_cast<unsigned>(at / 5 % 2) + doublings;
    made[at] = static_cast<std::byte>(half + (exponents << mantissa_bits));
  }
  return made;
}

struct Round {
  ranks::Rank& self;
  ncclDataType_t type;
  int call;
  world::Arena& arena;

  void move() const {
    const Bytes own = values(type, self.rank, call), other = values(type, 1 - self.rank, call);
    std::byte* const send = arena.take(own);
    std::byte* const all = arena.take(2 * kValues);
    std::byte* const shared = arena.take(own);
    std::byte* const came = arena.take(kValues);
    const int peer = 1 - self.rank;
    bool fine = ncclAllGather(send, all, kValues, type, self.comm, self.stream) == ncclSuccess;
    fine &= ncclBroadcast(shared, shared, kValues, type, 0, self.comm, self.stream) == ncclSuccess;
    ncclGroupStart();
    ncclSend(send, kValues, type, peer, self.comm, self.stream);
    ncclRecv(came, kValues, type, peer, self.comm, self.stream);
    fine &= ncclGroupEnd() == ncclSuccess;
    self.synchronize();
    expect(fine, "a call", self.rank, call);
    const Bytes gathered = world::read(all, 2 * kValues);
    const Bytes first(gathered.begin(), gathered.begin() + kValues);
    const Bytes second(gathered.begin() + kValues, gathered.end());
    expect(first == (self.rank == 0 ? own : other), "a gather's first", self.rank, call);
    expect(second == (self.rank == 1 ? own : other), "a gather's second", self.rank, call);
    expect(world::read(shared, kValues) == (self.rank == 0 ? own : other), "a broadcast", self.rank,
           call);
    expect(world::read(came, kValues) == other, "a message", self.rank, call);
  }

  void sum() const {
    std::byte* const send = arena.take(addends(type, 0));
    std::byte* const sums = arena.take(kValues);
    const ncclResult_t result =
        ncclAllReduce(send, sums, kValues, type, ncclSum, self.comm, self.stream);
    self.synchronize();
    expect(result == ncclSuccess, "a sum's call", self.rank, call);
    expect(world::read(sums, kValues) == addends(type, 1), "a sum", self.rank, call);
  }
};

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const int calls = std::atoi(words[1]);
  ranks::run(2, [&](ranks::Rank& self) {
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    world::Arena arena;
    for (int call = 0; call < calls && failures == 0; ++call) {
      for (const ncclDataType_t type : kTypes) {
        const Round round{self, type, call, arena};
        round.move();
        round.sum();
        arena.give_back_all();
      }
    }
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
