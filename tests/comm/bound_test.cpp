// A bound of the result holds on every rank for every value, and all ranks hold the same bits.
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>

#include "operations.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

constexpr double kBound = 1e-3;
constexpr std::uint64_t kCount = 30'000;

// Waves with noise, and here and there what no lattice holds.
std::vector<float> contribution(int rank, bool has_specials) {
  std::mt19937 random(static_cast<unsigned>(rank) + 1);
  std::normal_distribution<float> noise(0, 0.01f);
  std::vector<float> values(kCount);
  for (std::uint64_t at = 0; at < kCount; ++at) {
    values[at] =
        std::sin(0.01f * static_cast<float>(at) + static_cast<float>(rank)) + noise(random);
  }
  if (!has_specials) return values;
  const auto here = static_cast<std::uint64_t>(rank) * 100;
  values[here + 7] = std::numeric_limits<float>::quiet_NaN();
  values[here + 5000] = std::numeric_limits<float>::infinity();
  values[9000] = rank % 2 == 0 ? HUGE_VALF : -HUGE_VALF;
  values[here + 12'000] = 1e-42f;
  return values;
}

struct Exact {
  std::vector<double> sum;
  explicit Exact(int size, bool has_specials) : sum(kCount) {
    for (int rank = 0; rank < size; ++rank) {
      const auto values = contribution(rank, has_specials);
      for (std::uint64_t at = 0; at < kCount; ++at) sum[at] += static_cast<double>(values[at]);
    }
  }
};

bool is_within(double found, double exact, double bound) {
  if (std::isnan(exact)) return std::isnan(found);
  if (std::isinf(exact)) return found == exact;
  // The exact sums are rounded to doubles.
  return std::abs(found - exact) <= bound + 1e-12;
}

// Of as many values as there is room for in `receive`.
Call call_of(const collective::Row& row, const std::vector<float>& send,
             std::vector<float>& receive, const codec::Spec& spec) {
  return {.operation = row.operation,
          .dtype = Dtype::kF32,
          .algorithm = row.algorithm,
          .coding = row.coding,
          .send = reinterpret_cast<const std::byte*>(send.data()),
          .receive = reinterpret_cast<std::byte*>(receive.data()),
          .count = receive.size(),
          .spec = spec};
}

struct Outcome {
  std::vector<std::vector<float>> results;
  Report report;  // of rank 0
};

Outcome allreduce(const collective::Row& row, int size, const char* spec, bool has_specials,
                  const std::vector<std::int32_t>& nodes) {
  Outcome outcome;
  outcome.results.resize(static_cast<std::size_t>(size));
  Options options;
  options.spec = spec_of(spec);
  options.piece_bytes = 16 * 1024;
  options.nodes = nodes;
  options.same_node = true;
  std::mutex mutex;
  run_ranks(size, options, [&](Communicator& communicator) {
    const std::vector<float> send = contribution(communicator.rank(), has_specials);
    std::vector<float> receive(kCount, -1);
    const Call call = call_of(row, send, receive, options.spec);
    Report report;
    const Status status = communicator.run(call, report);
    const std::lock_guard lock(mutex);
    ASSERT_TRUE(status.ok()) << status.message();
    if (communicator.rank() == 0) outcome.report = report;
    outcome.results[static_cast<std::size_t>(communicator.rank())] = std::move(receive);
  });
  return outcome;
}

class Bounds : public testing::TestWithParam<std::size_t> {
 protected:
  const collective::Row& row() const { return collective::algorithms()[GetParam()]; }

  void expect_bound(int size, bool has_specials, const std::vector<std::int32_t>& nodes) {
    const Outcome outcome = allreduce(row(), size, "szp:allreduce-abs=1e-3", has_specials, nodes);
    const Exact exact(size, has_specials);
    EXPECT_EQ(outcome.report.choice.reason, plan::Reason::kCompress);
    if (nodes.empty() && size > 1) {
      EXPECT_LT(outcome.report.tally.wire_bytes, outcome.report.tally.raw_bytes);
      EXPECT_LE(outcome.report.bound, kBound);
      EXPECT_GT(outcome.report.bound, 0.99 * kBound);
    }
    for (const auto& result : outcome.results) {
      std::size_t outside = 0, different = 0;
      for (std::uint64_t at = 0; at < kCount; ++at) {
        outside += !is_within(result[at], exact.sum[at], kBound);
        different += std::bit_cast<std::uint32_t>(result[at]) !=
                     std::bit_cast<std::uint32_t>(outcome.results[0][at]);
      }
      EXPECT_EQ(outside, 0u) << size << " ranks";
      if (row().coding != plan::Coding::kPerHop) {
        EXPECT_EQ(different, 0u) << size << " ranks";
      }
    }
  }
};

TEST_P(Bounds, Hold) {
  if (row().operation != Operation::kAllreduce) return;
  for (const int size : {2, 3, 4, 8}) {
    for (const bool has_specials : {false, true}) expect_bound(size, has_specials, {});
  }
  if (row().coding == plan::Coding::kTwoLevel) {
    expect_bound(4, true, {0, 0, 1, 1});
    expect_bound(5, true, {0, 1, 1, 2, 2});
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Bounds,
                         testing::Range(std::size_t{0}, collective::algorithms().size()));

const collective::Row& direct() {
  return *collective::find_algorithm(Operation::kAllreduce, plan::Algorithm::kDirect,
                                     plan::Coding::kOnce);
}

TEST(Bounds, RelativeOnesAreOfTheSumOfRanges) {
  const Outcome outcome = allreduce(direct(), 4, "szp:allreduce-rel=1e-4", false, {});
  const Exact exact(4, false);
  double largest = 0;
  for (std::uint64_t at = 0; at < kCount; ++at) {
    largest = std::max(largest, std::abs(outcome.results[2][at] - exact.sum[at]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, outcome.report.bound);
  EXPECT_LT(outcome.report.bound, 1e-4 * 4 * 2.2);
}

// What this rank gets of a Reduce to rank 0, or of a Reduce-scatter, against the exact sums.
std::size_t count_outside(Communicator& communicator, const collective::Row& row,
                          const Exact& exact) {
  const auto rank = static_cast<std::uint64_t>(communicator.rank());
  const bool scatters = row.operation == Operation::kReduceScatter;
  const std::uint64_t count =
      scatters ? kCount / static_cast<std::uint64_t>(communicator.size()) : kCount;
  const std::vector<float> send = contribution(communicator.rank(), false);
  std::vector<float> receive(count, -1);
  const Call call = call_of(row, send, receive, spec_of("szp:allreduce-abs=1e-3"));
  Report report;
  const Status status = communicator.run(call, report);
  if (!status.ok() || report.choice.reason != plan::Reason::kCompress) return kCount;
  if (!scatters && rank != 0) return 0;
  const std::uint64_t first = scatters ? rank * count : 0;
  std::size_t outside = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    outside += !is_within(receive[at], exact.sum[first + at], kBound);
  }
  return outside;
}

// With two ranks one of them codes, once: all of the bound is its own.
TEST_P(Bounds, HoldForReduceAndReduceScatter) {
  if (row().operation != Operation::kReduce && row().operation != Operation::kReduceScatter) return;
  for (const int size : {2, 3, 4, 8}) {
    const Exact exact(size, false);
    Options options;
    options.piece_bytes = 16 * 1024;
    run_ranks(size, options, [&](Communicator& communicator) {
      EXPECT_EQ(count_outside(communicator, row(), exact), 0u) << size << " ranks";
    });
  }
}

// Nothing of fp32 can keep it: the values go as they are, and the reason is told.
TEST(Bounds, TooSmallOnesLetNothingBeCoded) {
  const Outcome outcome = allreduce(direct(), 4, "szp:allreduce-abs=1e-9", false, {});
  EXPECT_EQ(outcome.report.choice.reason, plan::Reason::kBoundTooSmall);
  EXPECT_EQ(outcome.report.tally.wire_bytes, outcome.report.tally.raw_bytes);
  EXPECT_EQ(outcome.report.bound, 0);
}

TEST(Bounds, AreOfReductionsAlone) {
  Options options;
  options.spec = spec_of("szp:allreduce-abs=1e-3");
  run_ranks(2, options, [&](Communicator& communicator) {
    Case own = Case::make(Operation::kBcast, communicator.rank(), 2, 50'000, 0, false, false);
    own.call.spec = options.spec;
    Report report;
    ASSERT_TRUE(communicator.run(own.call, report).ok());
    EXPECT_EQ(report.choice.reason, plan::Reason::kReductionsAlone);
    EXPECT_EQ(own.receive, own.expected);
  });
}

}  // namespace
}  // namespace thinwire::comm
