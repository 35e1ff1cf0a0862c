// Sums that each rank multiplies by a factor of its own, which changes at every call: operations
// are made before each call and destroyed before their group ends. Prints "ok".
//
// own_sums_program CALLS host|memory|mixed  where the factors lie: on the host, where the stream
//                                           reads them, or by turns, other ones on other ranks
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "random_values.h"
#include "ranks.h"

namespace {

using random_program::size_of;
using random_program::store;
using world::Bytes;

constexpr std::size_t kCount = 6000;
constexpr int kRanks = 4;
constexpr std::array<ncclDataType_t, 4> kTypes = {ncclFloat32, ncclFloat64, ncclFloat16,
                                                  ncclBfloat16};

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
double factor(int rank, int call) {
  constexpr double kFactors[kRanks] = {0.5, 1, -2, 1};
  return kFactors[rank] * (1 + call % 3);
}

double sum(int call, std::size_t at) {
  double made = 0;
  for (int rank = 0; rank < kRanks; ++rank) made += value(rank, call, at) * factor(rank, call);
  return made;
}

Bytes sums(ncclDataType_t type, int call, std::size_t first, std::size_t count) {
  Bytes made(count * size_of(type));
  for (std::size_t at = 0; at < count; ++at) store(made, at, type, sum(call, first + at));
  return made;
}

// One type's sums in one call; lives until the stream has come past.
struct Sums {
  Sums(ncclDataType_t of, const ranks::Rank& self, int number)
      : type(of), call(number), scalar(size_of(type)) {
    mine.resize(kRanks * kCount * size_of(type));
    for (std::size_t at = 0; at < kRanks * kCount; ++at)
      store(mine, at, type, value(self.rank, call, at));
    all.resize(mine.size());
    part.resize(kCount * size_of(type));
  }

  void enqueue(const ranks::Rank& self, bool in_memory) {
    const double own = factor(self.rank, call);
    Bytes now(size_of(type));
    store(in_memory ? scalar : now, 0, type, in_memory ? 1000 : own);
    // The stream writes what it reads later.
    if (in_memory) {
      right = own;
      cudaLaunchHostFunc(
          self.stream,
          [](void* of) {
            auto& sums = *static_cast<Sums*>(of);
            store(sums.scalar, 0, sums.type, sums.right);
          },
          this);
    }
    ncclRedOp_t op{};
    expect(ncclRedOpCreatePreMulSum(&op, in_memory ? scalar.data() : now.data(), type,
                                    in_memory ? ncclScalarDevice : ncclScalarHostImmediate,
                                    self.comm) == ncclSuccess,
           "an operation");
    expect(ncclAllReduce(mine.data(), all.data(), kRanks * kCount, type, op, self.comm,
                         self.stream) == ncclSuccess,
           "AllReduce");
    expect(ncclReduceScatter(mine.data(), part.data(), kCount, type, op, self.comm, self.stream) ==
               ncclSuccess,
           "ReduceScatter");
    expect(ncclRedOpDestroy(op, self.comm) == ncclSuccess, "the end of an operation");
  }

  void check(int rank) const {
    const std::string where = std::to_string(type) + " in call " + std::to_string(call);
    expect(all == sums(type, call, 0, kRanks * kCount), "an AllReduce of type " + where);
    const auto first = static_cast<std::size_t>(rank) * kCount;
    expect(part == sums(type, call, first, kCount), "a ReduceScatter of type " + where);
  }

  ncclDataType_t type;
  int call;
  Bytes scalar, mine, all, part;
  double right = 0;
};

// What NCCL refuses it still refuses.
void refused(const ranks::Rank& self) {
  float one = 1;
  ncclRedOp_t op{};
  ncclRedOpCreatePreMulSum(&op, &one, ncclFloat32, ncclScalarHostImmediate, self.comm);
  std::vector<double> data(20'000);
  expect(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat64, op, self.comm,
                       self.stream) == ncclInvalidArgument,
         "an operation of another type");
  ncclRedOpDestroy(op, self.comm);
  expect(ncclAllReduce(data.data(), data.data(), data.size() / 2, ncclFloat32, op, self.comm,
                       self.stream) == ncclInvalidArgument,
         "an operation that has ended");
}

}  // namespace

int main(int count, char** words) {
  const int calls = count > 1 ? std::atoi(words[1]) : 340;
  const std::string where = count > 2 ? words[2] : "host";
  ranks::run(kRanks, [&](ranks::Rank& self) {
    for (int call = 0; call < calls && failures == 0; ++call) {
      std::vector<std::unique_ptr<Sums>> under_way;
      for (const ncclDataType_t type : kTypes) {
        under_way.push_back(std::make_unique<Sums>(type, self, call));
      }
      const bool by_turns = where == "mixed" && (call + self.rank) % 2 == 0;
      ncclGroupStart();
      for (const auto& each : under_way) each->enqueue(self, where == "memory" || by_turns);
      expect(ncclGroupEnd() == ncclSuccess, "a group");
      self.synchronize();
      for (const auto& each : under_way) each->check(self.rank);
    }
    refused(self);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
