// Sums that each rank multiplies by a factor of its own, which changes at every call: operations
// are made before each call and destroyed before their group ends; of integers, too. Prints "ok".
//
// own_sums_program CALLS host|memory|mixed  where the factors lie: on the host, where the stream
//                                           reads them, or by turns, other ones on other ranks
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "random_values.h"
#include "ranks.h"

namespace {

using random_program::size_of;
using random_program::store;
using world::Bytes;

constexpr std::size_t kCount = 6000;
constexpr int kRanks = 4;
constexpr std::array<ncclDataType_t, 6> kTypes = {ncclFloat32,  ncclFloat64, ncclFloat16,
                                                  ncclBfloat16, ncclInt32,   ncclInt64};

std::atomic<int> failures{0};

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++failures;
}

// Sums are exact in every type.
double value(int rank, int call, std::size_t at) {
  return static_cast<double>((at / 64 + static_cast<std::size_t>(call + rank)) % 8);
}
double factor(ncclDataType_t type, int rank, int call) {
  constexpr int kWhole[kRanks] = {3, 1, -2, 1};
  if (type == ncclInt32 || type == ncclInt64) return kWhole[rank] * (1 + call % 3);
  constexpr double kFactors[kRanks] = {0.5, 1, -2, 1};
  // Some are subnormal in fp16, and so is what comes of them.
  return kFactors[rank] * (1 + call % 3) * (call % 5 == 4 ? 0x1p-18 : 1);
}

double sum(ncclDataType_t type, int call, std::size_t at) {
  double made = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    made += value(rank, call, at) * factor(type, rank, call);
  }
  return made;
}

Bytes sums(ncclDataType_t type, int call, std::size_t first, std::size_t count) {
  Bytes made(count * size_of(type));
  for (std::size_t at = 0; at < count; ++at) store(made, at, type, sum(type, call, first + at));
  return made;
}

// One type's sums in one call; lives until the stream has come past.
struct Sums {
  Sums(ncclDataType_t of, const ranks::Rank& self, int number, world::Arena& arena)
      : type(of), call(number), right(size_of(type)) {
    Bytes values(kRanks * kCount * size_of(type)), wrong(size_of(type));
    for (std::size_t at = 0; at < kRanks * kCount; ++at) {
      store(values, at, type, value(self.rank, call, at));
    }
    mine = arena.take(values);
    all = arena.take(values.size());
    part = arena.take(kCount * size_of(type));
    store(wrong, 0, type, 1000);
    scalar = arena.take(wrong);
    store(right, 0, type, factor(type, self.rank, call));
  }

  void enqueue(const ranks::Rank& self, bool in_memory) {
    // The stream writes what it reads later.
    if (in_memory) world::write_in_order(scalar, right, self.stream);
    ncclRedOp_t op{};
    expect(ncclRedOpCreatePreMulSum(&op, in_memory ? scalar : right.data(), type,
                                    in_memory ? ncclScalarDevice : ncclScalarHostImmediate,
                                    self.comm) == ncclSuccess,
           "an operation");
    expect(
        ncclAllReduce(mine, all, kRanks * kCount, type, op, self.comm, self.stream) == ncclSuccess,
        "AllReduce");
    expect(ncclReduceScatter(mine, part, kCount, type, op, self.comm, self.stream) == ncclSuccess,
           "ReduceScatter");
    expect(ncclRedOpDestroy(op, self.comm) == ncclSuccess, "the end of an operation");
  }

  void check(int rank) const {
    const std::string where = std::to_string(type) + " in call " + std::to_string(call);
    const Bytes expected = sums(type, call, 0, kRanks * kCount);
    expect(world::read(all, expected.size()) == expected, "an AllReduce of type " + where);
    const auto first = static_cast<std::size_t>(rank) * kCount;
    const Bytes block = sums(type, call, first, kCount);
    expect(world::read(part, block.size()) == block, "a ReduceScatter of type " + where);
  }

  ncclDataType_t type;
  int call;
  Bytes right;  // the factor
  std::byte *scalar = nullptr, *mine = nullptr, *all = nullptr, *part = nullptr;
};

// NCCL still refuses the calls that it refused.
void refused(const ranks::Rank& self) {
  float one = 1;
  ncclRedOp_t op{};
  ncclRedOpCreatePreMulSum(&op, &one, ncclFloat32, ncclScalarHostImmediate, self.comm);
  world::Arena arena;
  constexpr std::size_t kFew = 20'000;
  std::byte* const data = arena.take(kFew * sizeof(double));
  expect(ncclAllReduce(data, data, kFew, ncclFloat64, op, self.comm, self.stream) ==
             ncclInvalidArgument,
         "an operation of another type");
  ncclRedOpDestroy(op, self.comm);
  expect(ncclAllReduce(data, data, kFew / 2, ncclFloat32, op, self.comm, self.stream) ==
             ncclInvalidArgument,
         "an operation that has ended");
}

}  // namespace

int main(int count, char** words) {
  const int calls = count > 1 ? std::atoi(words[1]) : 340;
  const std::string where = count > 2 ? words[2] : "host";
  ranks::run(kRanks, [&](ranks::Rank& self) {
    world::Arena arena;
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (int call = 0; call < calls && failures == 0; ++call) {
      std::vector<std::unique_ptr<Sums>> under_way;
      for (const ncclDataType_t type : kTypes) {
        under_way.push_back(std::make_unique<Sums>(type, self, call, arena));
      }
      const bool by_turns = where == "mixed" && (call + self.rank) % 2 == 0;
      ncclGroupStart();
      for (const auto& each : under_way) each->enqueue(self, where == "memory" || by_turns);
      expect(ncclGroupEnd() == ncclSuccess, "a group");
      self.synchronize();
      for (const auto& each : under_way) each->check(self.rank);
      arena.give_back_all();
    }
    refused(self);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
