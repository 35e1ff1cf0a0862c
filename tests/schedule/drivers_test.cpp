// One set of schedules, two drivers: what they leave behind is the same, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "drivers.h"
#include "topologies.h"

namespace thinwire::collective {

void PrintTo(const Row& row, std::ostream* out) { *out << testing::name_of(row); }

namespace testing {
namespace {

bool same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), 4 * one.size()) == 0);
}

void expect_the_same(const Call& call) {
  const auto polled = run_polled(call), enqueued = run_enqueued(call);
  for (std::size_t rank = 0; rank < polled.size(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank) + ", " + call.spec);
    ASSERT_EQ(polled[rank].status.message(), "");
    ASSERT_EQ(enqueued[rank].status.message(), "");
    EXPECT_EQ(enqueued[rank].wire_bytes, polled[rank].wire_bytes);
    for (std::size_t block = 0; block < polled[rank].output.size(); ++block) {
      EXPECT_TRUE(same_bits(polled[rank].output[block], enqueued[rank].output[block])) << block;
    }
  }
}

class Drivers : public ::testing::TestWithParam<Row> {};

TEST_P(Drivers, LeaveTheSameBits) {
  for (const int size : {1, 2, 3, 4, 7, 8}) {
    for (const Trial& trial : trials_of(GetParam(), size)) {
      SCOPED_TRACE(trial.name);
      expect_the_same({.row = GetParam(), .topology = trial.topology, .spec = "zfp:rate=16"});
      if (HasFailure()) return;
    }
  }
}

TEST_P(Drivers, LeaveTheSameBitsOtherwise) {
  const auto trials = trials_of(GetParam(), 5);
  Call call{.row = GetParam(), .topology = trials.back().topology, .spec = "off"};
  expect_the_same(call);
  call.spec = "zfp:rate=32";  // never shorter than the values
  expect_the_same(call);
  call.spec = "zfp:rate=12";
  call.reduction = Reduction::kMaximum;
  call.window = 1;
  expect_the_same(call);
  call.piece_bytes = 1 << 20;
  expect_the_same(call);
  const Operation operation = GetParam().operation;
  call.in_place = operation == Operation::kAllgather || operation == Operation::kAllreduce;
  expect_the_same(call);
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  std::copy_if(algorithms().begin(), algorithms().end(), std::back_inserter(rows), can_be_enqueued);
  return rows;
}

std::string test_name(const ::testing::TestParamInfo<Row>& info) { return name_of(info.param); }

INSTANTIATE_TEST_SUITE_P(Table, Drivers, ::testing::ValuesIn(rows()), test_name);

Call call_of(Operation operation, Algorithm algorithm, const std::string& spec) {
  return {.row = *find_algorithm(operation, algorithm, Coding::kOnce),
          .topology = {0, 4, 0, {}},
          .spec = spec};
}

TEST(EnqueuedCollectives, RefuseWhatDependsOnTheData) {
  for (const char* spec : {"auto", "mpc", "szp:abs=1e-3"}) {
    const auto held = run_enqueued(call_of(Operation::kAllgather, Algorithm::kRing, spec));
    for (const Held& rank : held) {
      EXPECT_EQ(rank.status.code(), StatusCode::kUnsupported) << spec;
      EXPECT_NE(rank.status.message().find("depends on the data"), std::string::npos) << spec;
    }
  }
}

TEST(EnqueuedCollectives, RefuseRowsByName) {
  for (const Row& row : algorithms()) {
    if (can_be_enqueued(row)) continue;
    Call call = call_of(Operation::kBcast, Algorithm::kChain, "off");
    call.row = row;
    for (const Held& rank : run_enqueued(call)) {
      EXPECT_EQ(rank.status.code(), StatusCode::kUnsupported);
      EXPECT_NE(rank.status.message().find(operation_name(row.operation)), std::string::npos);
    }
  }
}

// One rank's NaN: it hears of it, the others miss the piece, and nobody takes another for it.
TEST(EnqueuedCollectives, MakeDeclinedDataNan) {
  Call call = call_of(Operation::kAllgather, Algorithm::kRing, "zfp:rate=8");
  call.change = [](int rank, std::uint32_t, std::vector<float>& values) {
    if (rank == 2) values[5] = std::numeric_limits<float>::quiet_NaN();
  };
  const auto held = run_enqueued(call);
  for (std::size_t rank = 0; rank < held.size(); ++rank) {
    const auto expected = rank == 2 ? StatusCode::kDeclined : StatusCode::kDamaged;
    EXPECT_EQ(held[rank].status.code(), expected) << rank;
    EXPECT_TRUE(std::isnan(held[rank].output[2][5])) << rank;
    EXPECT_FALSE(std::isnan(held[rank].output[1][5])) << rank;
  }
}

TEST(EnqueuedCollectives, CarryNanThroughReductions) {
  Call call = call_of(Operation::kAllreduce, Algorithm::kRing, "zfp:rate=16");
  call.change = [](int rank, std::uint32_t block, std::vector<float>& values) {
    if (rank == 1 && block == 0) values[5] = std::numeric_limits<float>::infinity();
  };
  for (const Held& rank : run_enqueued(call)) {
    EXPECT_NE(rank.status.code(), StatusCode::kOk);
    EXPECT_TRUE(std::isnan(rank.output[0][5]));
    EXPECT_FALSE(std::isnan(rank.output[1][5]));
  }
}

}  // namespace
}  // namespace testing
}  // namespace thinwire::collective
