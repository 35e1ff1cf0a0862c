// A mixture of experts: in every step each rank sends each other one another number of rows, all in
// one group as PyTorch issues an all-to-all of unequal parts, and gets them back the same way.
// Parts of no rows are calls of no elements, or no calls. Checks all values; prints "ok".
//
// experts_program steps N    N steps on one communicator
// experts_program several N  N groups that hold, in lockstep, exchanges and sums of two
//                            communicators; sums of the program's own end before the group does
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

constexpr std::size_t kRow = 256;  // elements
constexpr std::size_t kMostRows = 96;
constexpr ncclDataType_t kType = ncclFloat32;

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, std::uint32_t step) {
  if (holds || ++failures > 5) return;
  std::fprintf(stderr, "rank %d, step %u: wrong: %s\n", rank, step, what);
}

// As a router would have it: most near the mean, of some pairs none, the same on all ranks.
std::size_t rows(int from, int to, std::uint32_t step) {
  std::uint64_t word = (step * 131ULL + static_cast<unsigned>(from)) * 0x9E3779B97F4A7C15U +
                       static_cast<unsigned>(to) * 0xD1B54A32D192ED03U;
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  if (word % 7 == 0) return 0;
  return 1 + (word >> 32) % kMostRows;
}

// Activations of a pair: smooth parts, and low bits that are anything.
double activation(int from, int to, std::uint32_t step, std::size_t at) {
  const double wave = static_cast<double>((at / 16 + step) % 97) / 64 + from;
  std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15U ^ (step * 16ULL + static_cast<unsigned>(to));
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  return wave + static_cast<double>(word >> 53) * 0x1p-22;
}

Bytes part(int from, int to, std::uint32_t step) {
  const std::size_t count = rows(from, to, step) * kRow;
  Bytes made(count * size_of(kType));
  for (std::size_t at = 0; at < count; ++at) {
    store(made, at, kType, activation(from, to, step, at));
  }
  return made;
}

// Parts lie one after the other, as PyTorch's do.
struct Parts {
  std::array<std::byte*, 16> at{};
  std::array<std::size_t, 16> count{};
};

void exchange(const ranks::Rank& self, ncclComm_t comm, const Parts& to, const Parts& from,
              std::uint32_t step) {
  bool good = ncclGroupStart() == ncclSuccess;
  for (int peer = 0; peer < self.ranks; ++peer) {
    const auto of = static_cast<std::size_t>(peer);
    // Odd steps name parts of no rows, even ones leave them out.
    if (to.count[of] != 0 || step % 2 == 1) {
      good =
          ncclSend(to.at[of], to.count[of], kType, peer, comm, self.stream) == ncclSuccess && good;
    }
    if (from.count[of] != 0 || step % 2 == 1) {
      good = ncclRecv(from.at[of], from.count[of], kType, peer, comm, self.stream) == ncclSuccess &&
             good;
    }
  }
  good = ncclGroupEnd() == ncclSuccess && good;
  expect(good, "a call", self.rank, step);
}

Parts laid_out(const ranks::Rank& self, std::uint32_t step, bool sent, world::Arena& arena) {
  Parts made;
  std::size_t all = 0;
  for (int peer = 0; peer < self.ranks; ++peer) {
    const auto of = static_cast<std::size_t>(peer);
    made.count[of] = kRow * (sent ? rows(self.rank, peer, step) : rows(peer, self.rank, step));
    all += made.count[of];
  }
  std::byte* at = arena.take(all * size_of(kType) + 16);
  for (int peer = 0; peer < self.ranks; ++peer) {
    const auto of = static_cast<std::size_t>(peer);
    made.at[of] = at;
    at += made.count[of] * size_of(kType);
  }
  return made;
}

void check(const ranks::Rank& self, const Parts& came, std::uint32_t step, bool back) {
  for (int peer = 0; peer < self.ranks; ++peer) {
    const auto of = static_cast<std::size_t>(peer);
    const Bytes expected = back ? part(self.rank, peer, step) : part(peer, self.rank, step);
    const Bytes found = world::read(came.at[of], came.count[of] * size_of(kType));
    expect(found == expected, back ? "rows that came back" : "rows", self.rank, step);
  }
}

// Those that go to experts, and the way back.
void do_step(const ranks::Rank& self, ncclComm_t comm, std::uint32_t step, world::Arena& arena) {
  const Parts to = laid_out(self, step, true, arena), from = laid_out(self, step, false, arena);
  const Parts back = laid_out(self, step, true, arena);
  for (int peer = 0; peer < self.ranks; ++peer) {
    const Bytes own = part(self.rank, peer, step);
    world::write(to.at[static_cast<std::size_t>(peer)], own.data(), own.size());
  }
  exchange(self, comm, to, from, step);
  exchange(self, comm, from, back, step);
  self.synchronize();
  check(self, from, step, false);
  check(self, back, step, true);
  arena.give_back_all();
}

void run_steps(ranks::Rank& self, int steps) {
  world::Arena arena;
  // Long enough for ranks to find each other.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int step = 0; step < steps && failures == 0; ++step) {
    do_step(self, self.comm, static_cast<std::uint32_t>(step), arena);
  }
}

// The buffers of one communicator in a group of several.
struct Turn {
  Parts to, from;
  std::byte *send = nullptr, *sum = nullptr, *reduced = nullptr;
};

constexpr std::size_t kSummed = 5000;

Bytes summand(int rank, std::uint32_t step) {
  Bytes made(kSummed * size_of(kType));
  for (std::size_t at = 0; at < kSummed; ++at) {
    store(made, at, kType, value(kType, rank, step, at, false));
  }
  return made;
}

// Each rank's values by a factor of its own.
Bytes summed(int ranks, std::uint32_t step) {
  Bytes made(kSummed * size_of(kType));
  for (std::size_t at = 0; at < kSummed; ++at) {
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      sum += value(kType, rank, step, at, false) * factor(rank);
    }
    store(made, at, kType, sum);
  }
  return made;
}

void enqueue(const ranks::Rank& self, ncclComm_t comm, Turn& turn, std::uint32_t step) {
  auto own = static_cast<float>(factor(self.rank));
  ncclRedOp_t op{};
  bool good =
      ncclRedOpCreatePreMulSum(&op, &own, kType, ncclScalarHostImmediate, comm) == ncclSuccess;
  const int root = static_cast<int>(step) % self.ranks;
  good = ncclAllReduce(turn.send, turn.sum, kSummed, kType, op, comm, self.stream) == ncclSuccess &&
         ncclReduce(turn.send, turn.reduced, kSummed, kType, op, root, comm, self.stream) ==
             ncclSuccess &&
         ncclRedOpDestroy(op, comm) == ncclSuccess && good;
  expect(good, "a call of a sum", self.rank, step);
  exchange(self, comm, turn.to, turn.from, step);
}

void run_several(ranks::Rank& self, int groups) {
  ncclComm_t comms[2] = {};
  for (ncclComm_t& each : comms) ncclCommSplit(self.comm, 0, self.rank, &each, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  world::Arena arena;
  for (std::uint32_t group = 0; group < static_cast<std::uint32_t>(groups); ++group) {
    Turn turns[2];
    expect(ncclGroupStart() == ncclSuccess, "ncclGroupStart", self.rank, group);
    for (const std::uint32_t of : {0U, 1U}) {
      Turn& turn = turns[of];
      const std::uint32_t step = 2 * group + of;
      turn.to = laid_out(self, step, true, arena);
      turn.from = laid_out(self, step, false, arena);
      for (int peer = 0; peer < self.ranks; ++peer) {
        const Bytes own = part(self.rank, peer, step);
        world::write(turn.to.at[static_cast<std::size_t>(peer)], own.data(), own.size());
      }
      turn.send = arena.take(summand(self.rank, step));
      turn.sum = arena.take(kSummed * size_of(kType));
      turn.reduced = arena.take(kSummed * size_of(kType));
      enqueue(self, comms[of], turn, step);
    }
    expect(ncclGroupEnd() == ncclSuccess, "ncclGroupEnd", self.rank, group);
    self.synchronize();
    for (const std::uint32_t of : {0U, 1U}) {
      const std::uint32_t step = 2 * group + of;
      check(self, turns[of].from, step, false);
      const Bytes expected = summed(self.ranks, step);
      expect(world::read(turns[of].sum, expected.size()) == expected, "a sum", self.rank, step);
      if (static_cast<int>(step) % self.ranks != self.rank) continue;
      expect(world::read(turns[of].reduced, expected.size()) == expected, "a root's sum", self.rank,
             step);
    }
    arena.give_back_all();
  }
  for (ncclComm_t each : comms) ncclCommDestroy(each);
}

}  // namespace
}  // namespace random_program

int main(int count, char** words) {
  using namespace random_program;
  if (count != 3) return 2;
  const bool several = std::string(words[1]) == "several";
  const int times = std::atoi(words[2]);
  ranks::run(ranks::count(4), [&](ranks::Rank& self) {
    several ? run_several(self, times) : run_steps(self, times);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
