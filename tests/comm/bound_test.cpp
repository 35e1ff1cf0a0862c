// A bound of the result holds on every rank for every value, and all ranks hold the same bits.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "../base/other_float_mode.h"
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

// A call of as many values as there is room for in `receive`.
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
  std::vector<Report> reports;
};

// Changes that a test makes to the usual allreduce.
struct Variation {
  bool has_specials = false;
  std::vector<std::int32_t> nodes = {};
  std::int32_t threads = -1;
  int other_mode_rank = -1;  // whose program has another floating-point mode
  float scale = 1;           // of all values
};

Outcome allreduce(const collective::Row& row, int size, const char* spec,
                  const Variation& variation) {
  Outcome outcome;
  outcome.results.resize(static_cast<std::size_t>(size));
  outcome.reports.resize(static_cast<std::size_t>(size));
  Options options;
  options.piece_bytes = 16 * 1024;
  options.nodes = variation.nodes;
  options.same_node = true;
  options.threads = variation.threads;
  run_ranks(size, options, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::vector<float> send = contribution(communicator.rank(), variation.has_specials);
    for (float& value : send) value *= variation.scale;
    std::vector<float>& receive = outcome.results[rank];
    receive.assign(kCount, -1);
    Status status;
    {
      std::optional<OtherFloatMode> other;
      if (communicator.rank() == variation.other_mode_rank) other.emplace();
      const Call call = call_of(row, send, receive, spec_of(spec));
      status = communicator.run(call, outcome.reports[rank]);
    }
    ASSERT_TRUE(status.ok()) << status.message();
  });
  return outcome;
}

class Bounds : public testing::TestWithParam<std::size_t> {
 protected:
  const collective::Row& row() const { return collective::algorithms()[GetParam()]; }

  void expect_bound(int size, bool has_specials, const std::vector<std::int32_t>& nodes) {
    const Outcome outcome = allreduce(row(), size, "szp:allreduce-abs=1e-3",
                                      {.has_specials = has_specials, .nodes = nodes});
    const Exact exact(size, has_specials);
    const Report& report = outcome.reports[0];
    EXPECT_EQ(report.choice.reason, plan::Reason::kCompress);
    if (nodes.empty() && size > 1) {
      EXPECT_LT(report.tally.wire_bytes, report.tally.raw_bytes);
      EXPECT_LE(report.bound, kBound);
      EXPECT_GT(report.bound, 0.99 * kBound);
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
  const Outcome outcome = allreduce(direct(), 4, "szp:allreduce-rel=1e-4", {});
  const Exact exact(4, false);
  double largest = 0;
  for (std::uint64_t at = 0; at < kCount; ++at) {
    largest = std::max(largest, std::abs(outcome.results[2][at] - exact.sum[at]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, outcome.reports[0].bound);
  EXPECT_LT(outcome.reports[0].bound, 1e-4 * 4 * 2.2);
}

// Counts values of a Reduce to rank 0, or of a Reduce-scatter, that this rank gets outside the
// bound, against the exact sums.
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
  const Outcome outcome = allreduce(direct(), 4, "szp:allreduce-abs=1e-9", {});
  const Report& report = outcome.reports[0];
  EXPECT_EQ(report.choice.reason, plan::Reason::kBoundTooSmall);
  EXPECT_EQ(report.tally.wire_bytes, report.tally.raw_bytes);
  EXPECT_EQ(report.bound, 0);
}

// Threads that code have the mode of the one that makes them.
TEST(Bounds, AreTheSameWhateverModeOneRanksProgramIsIn) {
  for (const char* spec : {"szp:allreduce-abs=1e-3", "szp:allreduce-rel=1e-4"}) {
    for (const float scale : {1.0F, 1e-39F}) {
      for (const std::int32_t threads : {0, 2}) {
        SCOPED_TRACE(std::string(spec) + ", scale " + std::to_string(scale));
        Variation variation{.threads = threads, .scale = scale};
        const Outcome expected = allreduce(direct(), 4, spec, variation);
        for (variation.other_mode_rank = 0; variation.other_mode_rank < 4;
             ++variation.other_mode_rank) {
          const Outcome found = allreduce(direct(), 4, spec, variation);
          for (std::size_t rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(found.reports[rank].choice.reason, expected.reports[rank].choice.reason);
            EXPECT_EQ(found.reports[rank].bound, expected.reports[rank].bound) << rank;
            EXPECT_EQ(found.reports[rank].tally.wire_bytes,
                      expected.reports[rank].tally.wire_bytes);
            EXPECT_EQ(std::memcmp(found.results[rank].data(), expected.results[rank].data(),
                                  kCount * sizeof(float)),
                      0);
          }
        }
      }
    }
  }
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
