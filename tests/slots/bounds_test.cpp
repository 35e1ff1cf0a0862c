// Sums under a bound of their results, against exact sums.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "../base/other_float_mode.h"
#include "member.h"

namespace thinwire::slots {
namespace {

struct Sum {
  std::uint32_t operation = TW_STREAM_ALLREDUCE;
  std::uint32_t dtype = TW_F32;
  std::string spec;
  int ranks = 2;
  std::uint64_t count = 5000;
  std::uint32_t way = TW_STREAM_PLANNED;
  double scale = 1;
  bool strange = false;      // NaN, infinity and large values among them
  int other_mode_rank = -1;  // whose program and stream have another floating-point mode

  std::uint64_t sent() const {
    return operation == TW_STREAM_REDUCE_SCATTER ? count * static_cast<std::uint64_t>(ranks)
                                                 : count;
  }
};

std::vector<double> numbers_of(const Sum& given, int rank) {
  std::mt19937 random(static_cast<unsigned>(rank + 5));
  std::vector<double> numbers(given.sent());
  for (std::uint64_t at = 0; at < numbers.size(); ++at) {
    const double wave = 3 * std::sin(0.003 * static_cast<double>(at) + rank);
    numbers[at] = static_cast<float>(wave + 1e-4 * (random() * 0x1p-32));
  }
  if (given.strange) {
    numbers[7] = rank == 1 ? std::numeric_limits<double>::quiet_NaN() : 1;
    numbers[9] = rank == 0 ? std::numeric_limits<double>::infinity() : 1;
    numbers[11] = rank == 0 ? 1e3 : 0.001;
  }
  return numbers;
}

Bytes bytes_of(std::uint32_t dtype, const std::vector<double>& numbers) {
  Bytes bytes(numbers.size() * value_bytes(dtype));
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const auto narrow = static_cast<float>(numbers[at]);
    if (dtype == TW_F32) {
      std::memcpy(bytes.data() + at * 4, &narrow, 4);
    } else {
      std::memcpy(bytes.data() + at * 8, &numbers[at], 8);
    }
  }
  return bytes;
}

double number_at(std::uint32_t dtype, const std::byte* at, std::uint64_t index) {
  float narrow = 0;
  double wide = 0;
  std::memcpy(&narrow, at + index * 4, 4);
  if (dtype == TW_F64) std::memcpy(&wide, at + index * 8, 8);
  return dtype == TW_F32 ? double{narrow} : wide;
}

struct Done {
  std::vector<Bytes> results;
  std::vector<tw_stream_report> reports;
};

Done run(const Sum& given, const World::Tamper& tamper = {}) {
  World world(given.ranks);
  if (tamper) world.tamper(tamper);
  Carrier carrier;
  Done done;
  done.results.resize(static_cast<std::size_t>(given.ranks));
  done.reports.resize(static_cast<std::size_t>(given.ranks));
  on_ranks(given.ranks, [&](int rank) {
    const Bytes sent = bytes_of(given.dtype, numbers_of(given, rank));
    std::optional<OtherFloatMode> mode;
    if (rank == given.other_mode_rank) mode.emplace();
    Member own(world, rank, given.spec);
    carrier.serve(rank, own.mailbox.memory);
    const Plan plan = own.plan(given.operation, given.count, [&](auto& options) {
      options.dtype = given.dtype;
      options.way = given.way;
      options.scale = given.scale;
    });
    const Lent lent(plan);
    Bytes& result = done.results[static_cast<std::size_t>(rank)];
    result.resize(given.count * value_bytes(given.dtype));
    own.enqueue(own.call(plan, lent, 3, sent.data(), result.data()));
    own.stream.wait();
    done.reports[static_cast<std::size_t>(rank)] = check(plan, lent.record);
    carrier.stop_serving(own.mailbox.memory);
  });
  return done;
}

// The greatest difference from exact sums, as a share of `bound`, and the sum of the ranks' ranges.
struct Exact {
  std::vector<long double> sums;
  long double ranges = 0;
};

Exact exact_of(const Sum& given) {
  Exact exact;
  exact.sums.resize(given.sent());
  for (int rank = 0; rank < given.ranks; ++rank) {
    const auto numbers = numbers_of(given, rank);
    long double least = HUGE_VALL, most = -HUGE_VALL;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      exact.sums[at] += static_cast<long double>(numbers[at]);
      if (!std::isfinite(numbers[at])) continue;
      least = std::min<long double>(least, numbers[at]);
      most = std::max<long double>(most, numbers[at]);
    }
    exact.ranges += most - least;
  }
  for (long double& sum : exact.sums) sum *= static_cast<long double>(given.scale);
  return exact;
}

void expect_within(const Sum& given, const Done& done, const Exact& exact, long double bound) {
  for (int rank = 0; rank < given.ranks; ++rank) {
    const bool scatters = given.operation == TW_STREAM_REDUCE_SCATTER;
    const std::uint64_t first = scatters ? given.count * static_cast<std::uint64_t>(rank) : 0;
    const Bytes& result = done.results[static_cast<std::size_t>(rank)];
    for (std::uint64_t at = 0; at < given.count; ++at) {
      const long double sum = exact.sums[first + at];
      const double got = number_at(given.dtype, result.data(), at);
      if (std::isfinite(sum)) {
        ASSERT_LE(std::fabs(static_cast<long double>(got) - sum), bound) << at;
      } else {
        ASSERT_TRUE(std::isnan(sum) ? std::isnan(got) : got == static_cast<double>(sum)) << at;
      }
    }
    if (given.operation == TW_STREAM_REDUCE) break;  // the root's alone
    if (scatters) continue;
    EXPECT_EQ(result, done.results[0]) << "ranks differ";
  }
}

std::uint32_t spilled(const Done& done) {
  std::uint32_t blocks = 0;
  for (const tw_stream_report& report : done.reports) blocks += report.spilled_out;
  return blocks;
}

void expect_bound(const Sum& given, double share) {
  SCOPED_TRACE(given.spec + ", " + std::to_string(given.ranks) + " ranks, operation " +
               std::to_string(given.operation) + ", way " + std::to_string(given.way));
  const Exact exact = exact_of(given);
  const bool relative = given.spec.find("rel") != std::string::npos;
  const long double whole = relative ? exact.ranges * static_cast<long double>(given.scale) : 1;
  const Done done = run(given);
  expect_within(given, done, exact, whole * static_cast<long double>(share));
  EXPECT_EQ(spilled(done), 0U);
  for (const tw_stream_report& report : done.reports) {
    const std::uint64_t share = given.strange ? 1 : 2;
    // The root of a Reduce may send nothing.
    EXPECT_LE(report.frame_bytes * share, report.raw_bytes) << "it got no smaller";
  }
}

TEST(BoundedSums, KeepTheirBoundInEveryOperationAndWay) {
  for (const std::uint32_t dtype : {TW_F32, TW_F64}) {
    for (int ranks = 2; ranks <= 5; ++ranks) {
      for (const bool relative : {false, true}) {
        Sum given;
        given.dtype = dtype;
        given.ranks = ranks;
        given.spec = relative ? "szp:allreduce-rel=1e-3" : "szp:allreduce-abs=1e-2";
        for (const double scale : {1.0, 1.0 / ranks}) {
          given.scale = scale;
          for (const std::uint32_t operation : {TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE}) {
            given.operation = operation;
            for (const std::uint32_t way : {TW_STREAM_GATHER, TW_STREAM_DIRECT}) {
              given.way = way;
              expect_bound(given, relative ? 1e-3 : 1e-2);
            }
          }
          given.way = TW_STREAM_PLANNED;
          given.operation = TW_STREAM_REDUCE_SCATTER;
          expect_bound(given, relative ? 1e-3 : 1e-2);
        }
      }
    }
  }
}

// The parameters of the frames that the ranks sent each other.
using Parameters = std::map<std::pair<int, int>, std::vector<std::uint64_t>>;

Parameters parameters_of(const Sum& given) {
  constexpr std::size_t kKindAt = 24, kParameterAt = 64 + 32;  // spec/slot.md, spec/frame.md
  Parameters parameters;
  const Done done = run(given, [&](int from, int to, std::byte* data, std::uint64_t bytes) {
    if (bytes <= 512 || data[kKindAt] != std::byte{1}) return;
    std::uint64_t parameter = 0;
    std::memcpy(&parameter, data + kParameterAt, sizeof parameter);
    parameters[{from, to}].push_back(parameter);
  });
  expect_within(given, done, exact_of(given), 1e-2L);
  return parameters;
}

TEST(BoundedSums, HaveOneParameterWhateverModeOneRanksProgramIsIn) {
  for (const char* spec : {"szp:allreduce-abs=1e-2", "szp:allreduce-rel=1e-4"}) {
    for (const std::uint32_t way : {TW_STREAM_GATHER, TW_STREAM_DIRECT}) {
      Sum given{.spec = spec, .ranks = 3, .way = way, .scale = 1.0 / 3};
      const Parameters expected = parameters_of(given);
      EXPECT_EQ(expected.size(), 6U);
      for (given.other_mode_rank = 0; given.other_mode_rank < 3; ++given.other_mode_rank) {
        EXPECT_EQ(parameters_of(given), expected) << spec << ", rank " << given.other_mode_rank;
      }
    }
  }
}

TEST(BoundedSums, WhatIsNotFiniteStaysSo) {
  Sum given{.spec = "szp:abs=1,allreduce-abs=1e-2", .ranks = 3, .strange = true};
  expect_bound(given, 1e-2);
}

TEST(BoundedSums, ABoundThatAdditionsAloneBreakLeavesTheValuesAsTheyAre) {
  const Sum given{.spec = "szp:allreduce-abs=1e-9", .ranks = 3};
  const Done done = run(given);
  EXPECT_GT(spilled(done), 0U);
  expect_within(given, done, exact_of(given), 1e-5L);
}

TEST(BoundedSums, DamagedRangesLeaveTheValuesAsTheyAre) {
  const Sum given{.spec = "szp:allreduce-abs=1e-2", .ranks = 2, .way = TW_STREAM_GATHER};
  bool first = true;
  const Done done = run(given, [&](int, int, std::byte* data, std::uint64_t bytes) {
    if (bytes != 512 || !first) return;
    first = false;
    data[25] ^= std::byte{1};
  });
  EXPECT_FALSE(first);
  EXPECT_GT(spilled(done), 0U);
  expect_within(given, done, exact_of(given), 1e-2L);
}

TEST(BoundedSums, ATrialSaysAboutWhatTheCallNeeds) {
  World world(2);
  const Sum given{.spec = "szp:allreduce-rel=1e-3"};
  Member own(world, 0, given.spec);
  const Plan plan = own.plan(TW_STREAM_ALLREDUCE, given.count,
                             [](auto& options) { options.flags = TW_STREAM_TRIAL; });
  const Lent lent(plan);
  const Bytes sent = bytes_of(TW_F32, numbers_of(given, 0));
  own.enqueue(own.call(plan, lent, 3, sent.data(), nullptr));
  own.stream.wait();
  const std::uint32_t tried = check(plan, lent.record).needed[0];
  const std::uint32_t needed = run(given).reports[0].needed[0];
  EXPECT_NEAR(tried, needed, 0.1 * needed);
}

TEST(BoundedSums, OnlySumsHaveBounds) {
  World world(2);
  Member own(world, 0, "szp:allreduce-abs=1e-2");
  const auto sum = options_of(TW_STREAM_ALLREDUCE, TW_F32, 100, own.codec.handle.get());
  auto gathered = sum, multiplied = sum, vanishing = sum;
  gathered.operation = TW_STREAM_ALLGATHER;
  multiplied.flags = TW_STREAM_PREMULTIPLIED;
  vanishing.scale = 1e-6;
  for (const auto& options : {gathered, multiplied, vanishing}) {
    tw_stream_plan* plan = nullptr;
    EXPECT_EQ(tw_stream_plan_create(own.comm.get(), &options, &plan), TW_UNSUPPORTED);
  }
  own.plan(TW_STREAM_ALLREDUCE, 100, [](auto& options) { options.scale = 1e-5; });
}

TEST(BoundedSums, MissingValuesAreCodedInNoSlot) {
  World world(2);
  Member own(world, 0, "szp:abs=1e-2,fill=auto");
  for (const auto operation : {TW_STREAM_ALLREDUCE, TW_STREAM_ALLGATHER, TW_STREAM_BCAST}) {
    const auto options = options_of(operation, TW_F32, 100, own.codec.handle.get());
    tw_stream_plan* plan = nullptr;
    EXPECT_EQ(tw_stream_plan_create(own.comm.get(), &options, &plan), TW_UNSUPPORTED);
    EXPECT_NE(std::string(tw_last_error()).find("fill="), std::string::npos) << tw_last_error();
  }
}

}  // namespace
}  // namespace thinwire::slots
