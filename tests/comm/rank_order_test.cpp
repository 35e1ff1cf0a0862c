// Reductions in the order of the ranks: the bits of a plain loop over the ranks, whatever the link,
// the pieces, the nodes and what is compressed. The same of exact sums, whoever has which values.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include "collective/reduce.h"
#include "collective/slots/sum.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

constexpr const char* kOrdered = "lossless:reductions=ordered";
constexpr const char* kExact = "lossless:reductions=exact";

using Bytes = std::vector<std::byte>;

// Values of both signs over many magnitudes, in runs that compress.
Bytes values_of(Dtype dtype, int rank, std::uint64_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 977 + 5);
  Bytes values(count * dtype_size(dtype));
  std::uint64_t bits = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    if (at % 8 == 0) bits = random();
    const double drawn =
        std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits & 15) - 8) *
        ((bits & 16) != 0 ? -1 : 1);
    if (dtype == Dtype::kF64) std::memcpy(values.data() + 8 * at, &drawn, 8);
    const auto single = static_cast<float>(drawn);
    if (dtype == Dtype::kF32) std::memcpy(values.data() + 4 * at, &single, 4);
    std::uint32_t word = 0;
    std::memcpy(&word, &single, 4);
    const auto half = static_cast<std::uint16_t>(word >> 16);
    if (dtype == Dtype::kBf16) std::memcpy(values.data() + 2 * at, &half, 2);
  }
  return values;
}

Bytes folded(Dtype dtype, plan::Reduction reduction, int ranks, std::uint64_t count) {
  Bytes sum = values_of(dtype, 0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    collective::combine(reduction, dtype, count, sum.data(), values_of(dtype, rank, count).data());
  }
  return sum;
}

// Ranks' arrays one after the other, added exactly (collective_reduce_test has these sums).
Bytes total(Dtype dtype, int ranks, std::uint64_t count) {
  Bytes all;
  for (int rank = 0; rank < ranks; ++rank) {
    const Bytes own = values_of(dtype, rank, count);
    all.insert(all.end(), own.begin(), own.end());
  }
  Bytes sum(count * dtype_size(dtype));
  collective::sum_exactly(dtype, count,
                          {.first = all.data(),
                           .stride = sum.size(),
                           .count = ranks,
                           .own = -1,
                           .own_at = nullptr,
                           .is_exact = true},
                          sum.data());
  return sum;
}

struct Setting {
  double link;
  std::uint64_t piece_bytes;
  std::int32_t threads;
  int a_node;  // ranks
};

constexpr Setting kSettings[] = {
    {0, 0, 0, 1}, {1e5, 4096, 0, 1}, {1e15, 0, 2, 1}, {0, 16384, 1, 2}, {1e5, 0, 0, 3}};

class RankOrder : public testing::TestWithParam<Dtype> {
 protected:
  // `turned`: by how much the values are those of another rank.
  void run(Operation operation, int ranks, std::uint64_t count, const Setting& setting,
           bool in_place, plan::Reduction reduction, const char* spec = kOrdered, int turned = 0) {
    Options options;
    options.spec = spec_of(spec);
    options.link_bytes_per_second = setting.link;
    options.piece_bytes = setting.piece_bytes;
    options.threads = setting.threads;
    for (int rank = 0; setting.a_node > 1 && rank < ranks; ++rank) {
      options.nodes.push_back(rank / setting.a_node);
    }
    const std::uint64_t width = dtype_size(GetParam());
    const bool is_exact = spec == kExact && reduction == plan::Reduction::kSum;
    const Bytes wanted =
        is_exact ? total(GetParam(), ranks, count) : folded(GetParam(), reduction, ranks, count);
    std::mutex mutex;
    run_ranks(ranks, options, [&](Communicator& communicator) {
      const int rank = communicator.rank();
      Bytes send = values_of(GetParam(), (rank + turned) % ranks, count);
      Bytes receive(send.size());
      Call call{.operation = operation,
                .dtype = GetParam(),
                .reduction = reduction,
                .root = ranks - 1,
                .in_place = in_place,
                .send = send.data(),
                .receive = receive.data(),
                .count = count,
                .spec = options.spec};
      const bool scatters = operation == Operation::kReduceScatter;
      if (scatters) call.count = count / static_cast<std::uint64_t>(ranks);
      if (in_place && (operation != Operation::kReduce || rank == call.root)) receive = send;
      if (in_place) call.receive = receive.data();
      Report report;
      const Status status = communicator.run(call, report);
      const std::lock_guard lock(mutex);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(report.choice.algorithm,
                is_exact ? plan::Algorithm::kExact : plan::Algorithm::kRankOrder);
      if (operation == Operation::kReduce && rank != call.root) return;
      const std::uint64_t bytes = call.count * width;
      const std::uint64_t begin = scatters ? bytes * static_cast<std::uint64_t>(rank) : 0;
      EXPECT_EQ(std::memcmp(receive.data(), wanted.data() + begin, bytes), 0)
          << collective::operation_name(operation) << " on rank " << rank << " of " << ranks
          << ", link " << setting.link << ", in place " << in_place;
    });
  }
};

// Calls visit(operation, ranks, setting, in place).
template <typename Visit>
void for_each_sum(Visit&& visit) {
  for (const int ranks : {2, 3, 5, 8}) {
    for (const Setting& setting : kSettings) {
      for (const Operation operation :
           {Operation::kAllreduce, Operation::kReduce, Operation::kReduceScatter}) {
        visit(operation, ranks, setting, false);
        if (operation != Operation::kReduceScatter) visit(operation, ranks, setting, true);
      }
    }
  }
}

TEST_P(RankOrder, IsThatOfALoopOverTheRanks) {
  for_each_sum([&](Operation operation, int ranks, const Setting& setting, bool in_place) {
    run(operation, ranks, 40'000, setting, in_place, plan::Reduction::kSum);
  });
}

TEST_P(RankOrder, OfExactSumsIsAny) {
  for_each_sum([&](Operation operation, int ranks, const Setting& setting, bool in_place) {
    const int turned = in_place ? ranks - 1 : ranks / 2;
    run(operation, ranks, 40'000, setting, in_place, plan::Reduction::kSum, kExact, turned);
  });
  run(Operation::kAllreduce, 5, 7, kSettings[0], false, plan::Reduction::kSum, kExact, 2);
  run(Operation::kAllreduce, 5, 5000, kSettings[0], false, plan::Reduction::kProduct, kExact);
}

TEST_P(RankOrder, HoldsForProductsAndFewValues) {
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{5000}}) {
    for (const auto reduction : {plan::Reduction::kProduct, plan::Reduction::kSum}) {
      run(Operation::kAllreduce, 5, count, kSettings[0], false, reduction);
    }
  }
}

// Else the tests above say nothing.
TEST_P(RankOrder, IsAnotherOneThanThatOfTheOwners) {
  constexpr int kRanks = 5;
  constexpr std::uint64_t kCount = 40'000;
  const Bytes wanted = folded(GetParam(), plan::Reduction::kSum, kRanks, kCount);
  Options options;
  options.spec = spec_of("lossless:reductions=coded");
  run_ranks(kRanks, options, [&](Communicator& communicator) {
    Bytes send = values_of(GetParam(), communicator.rank(), kCount);
    Bytes receive(send.size());
    Call call{.operation = Operation::kAllreduce,
              .dtype = GetParam(),
              .algorithm = plan::Algorithm::kDirect,
              .send = send.data(),
              .receive = receive.data(),
              .count = kCount,
              .spec = options.spec};
    Report report;
    ASSERT_TRUE(communicator.run(call, report).ok());
    EXPECT_NE(receive, wanted);
  });
}

INSTANTIATE_TEST_SUITE_P(Dtypes, RankOrder, testing::Values(Dtype::kF32, Dtype::kF64, Dtype::kBf16),
                         [](const auto& info) { return dtype_name(info.param); });

}  // namespace
}  // namespace thinwire::comm
