// Every row of the table, proven for 1 to 64 ranks; in brief for 1 to 17 and some larger numbers.
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "brief.h"
#include "collective/adapt.h"
#include "prove.h"

namespace thinwire::collective {

void PrintTo(const Row& row, std::ostream* out) { *out << testing::name_of(row); }

namespace testing {
namespace {

constexpr int kMostRanks = 64;

// The time goes with the cube of the ranks.
bool is_tried(int size) {
  return size <= 17 || !is_brief() || size == 32 || size == 33 || size == kMostRanks;
}

// Reduce-scatter and Alltoall have their input apart always, Bcast has none.
bool can_be_in_place(Operation operation) {
  return operation != Operation::kBcast && operation != Operation::kAlltoall &&
         operation != Operation::kReduceScatter;
}

class Schedules : public ::testing::TestWithParam<Row> {
 protected:
  // Ends with the first size at which something failed.
  template <class Check>
  void for_each_trial(Check&& check) {
    for (int size = 1; size <= kMostRanks && !HasFailure(); ++size) {
      if (!is_tried(size)) continue;
      for (const Trial& trial : trials_of(GetParam(), size)) {
        SCOPED_TRACE(trial.name);
        check(trial, collective_of(GetParam(), trial.topology));
      }
    }
  }
};

// Those without nodes, those of two levels, and those that reduce nothing and forward untouched.
class FlatSchedules : public Schedules {};
class StagedSchedules : public Schedules {};
class MovingSchedules : public Schedules {};
class QuantisedSchedules : public Schedules {};

TEST_P(Schedules, DoWhatTheyAreFor) {
  for_each_trial([&](const Trial& trial, Collective collective) {
    const auto proof = prove(collective);
    EXPECT_EQ(proof.fault, "");
    EXPECT_EQ(proof.codings, GetParam().codings(trial.nodes));
    if (!can_be_in_place(GetParam().operation)) return;
    collective.in_place = true;
    EXPECT_EQ(prove(collective).fault, "") << "in place";
  });
}

// Windows of pieces follow one another in the same slots, and blocks without values do nothing.
TEST_P(Schedules, FollowOneAnother) {
  for_each_trial([&](const Trial& trial, Collective collective) {
    const int size = trial.topology.size;
    if (size > 20 && size % 8 != 0) return;
    collective.windows = 3;
    EXPECT_EQ(prove(collective).fault, "");
    collective.some_empty = true;
    EXPECT_EQ(prove(collective).fault, "") << "some blocks are empty";
  });
}

// If the transport does not reach the values, those that travel pass through slots.
TEST_P(StagedSchedules, DoTheSame) {
  for_each_trial([&](const Trial& trial, Collective collective) {
    const int size = trial.topology.size;
    if (size > 20 && size % 8 != 0) return;
    for (Schedule& schedule : collective.ranks) stage_values(schedule);
    collective.windows = 2;
    const auto proof = prove(collective);
    EXPECT_EQ(proof.fault, "");
    EXPECT_EQ(proof.codings, GetParam().codings(trial.nodes));
  });
}

// Ranks code what they begin with themselves.
TEST_P(QuantisedSchedules, DoTheSame) {
  for_each_trial([&](const Trial&, Collective collective) {
    for (Schedule& schedule : collective.ranks) quantise_own(schedule);
    for (const bool in_place : {false, true}) {
      collective.in_place = in_place;
      EXPECT_EQ(prove(collective).fault, "") << in_place;
    }
  });
}

// Without nodes no rank needs to post a message before one that comes earlier in its steps: an
// executor that posts them one after the other does not hang either.
TEST_P(FlatSchedules, MayBePostedInTheOrderOfSteps) {
  for_each_trial([&](const Trial&, Collective collective) {
    collective.posted_in_order = true;
    EXPECT_EQ(prove(collective).fault, "");
  });
}

TEST_P(MovingSchedules, EncodeEachBlockOnce) {
  for_each_trial([&](const Trial&, const Collective& collective) {
    std::map<std::uint32_t, int> encoded;
    for (int rank = 0; rank < collective.size; ++rank) {
      for (const Step& step : collective.ranks[static_cast<std::size_t>(rank)].steps) {
        if (step.action != Action::kEncode) continue;
        EXPECT_EQ(++encoded[meaning(collective, rank, step.block)], 1) << "block " << step.block;
      }
    }
  });
}

TEST_P(Schedules, SendPacketsBetweenNodesAndValuesInside) {
  for_each_trial([&](const Trial& trial, const Collective& collective) {
    for (int rank = 0; rank < collective.size; ++rank) {
      for (const Step& step : collective.ranks[static_cast<std::size_t>(rank)].steps) {
        if (!sends(step.action)) continue;
        const bool inside = trial.topology.node(rank) == trial.topology.node(step.peer);
        EXPECT_EQ(inside, step.action == Action::kSendValues) << rank << " to " << step.peer;
      }
    }
  });
}

std::vector<Row> rows_that(bool (*are_wanted)(const Row&)) {
  std::vector<Row> rows;
  for (const Row& row : algorithms()) {
    if (are_wanted(row)) rows.push_back(row);
  }
  return rows;
}

std::string test_name(const ::testing::TestParamInfo<Row>& info) { return name_of(info.param); }

INSTANTIATE_TEST_SUITE_P(Table, Schedules,
                         ::testing::ValuesIn(rows_that([](const Row&) { return true; })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, QuantisedSchedules,
                         ::testing::ValuesIn(rows_that([](const Row& row) {
                           return (row.operation == Operation::kAllreduce ||
                                   row.operation == Operation::kReduce) &&
                                  row.coding == Coding::kOnce &&
                                  (row.algorithm == Algorithm::kDirect ||
                                   row.algorithm == Algorithm::kRecursiveDoubling);
                         })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, FlatSchedules, ::testing::ValuesIn(rows_that([](const Row& row) {
                           return row.coding != Coding::kTwoLevel;
                         })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, StagedSchedules, ::testing::ValuesIn(rows_that([](const Row& row) {
                           return row.coding == Coding::kTwoLevel;
                         })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Table, MovingSchedules, ::testing::ValuesIn(rows_that([](const Row& row) {
                           return !plan::reduces(row.operation) && row.coding != Coding::kPerHop;
                         })),
                         test_name);

}  // namespace
}  // namespace testing
}  // namespace thinwire::collective
