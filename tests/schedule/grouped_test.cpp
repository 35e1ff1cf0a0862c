// Every row of the table as groups of messages, which complete one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grouped.h"
#include "topologies.h"

namespace thinwire::collective {

void PrintTo(const Row& row, std::ostream* out) { *out << testing::name_of(row); }

namespace testing {
namespace {

constexpr int kMostRanks = 64;

class Groups : public ::testing::TestWithParam<Row> {};

TEST_P(Groups, CompleteForEveryNumberOfRanks) {
  for (int size = 1; size <= kMostRanks && !HasFailure(); ++size) {
    for (const Trial& trial : trials_of(GetParam(), size)) {
      SCOPED_TRACE(trial.name);
      auto collective = collective_of(GetParam(), trial.topology);
      EXPECT_EQ(fault_of_groups(collective, {1, 1}), "");
    }
  }
}

// Several pieces, several windows of them, blocks without values.
TEST_P(Groups, CompleteWhateverThePieces) {
  for (int size = 1; size <= kMostRanks && !HasFailure(); ++size) {
    if (size > 20 && size % 8 != 0) continue;
    for (const Trial& trial : trials_of(GetParam(), size)) {
      SCOPED_TRACE(trial.name);
      auto collective = collective_of(GetParam(), trial.topology);
      for (const Pieces pieces : {Pieces{3, 1}, Pieces{3, 3}, Pieces{5, 2}}) {
        SCOPED_TRACE(std::to_string(pieces.count) + " by " + std::to_string(pieces.window));
        collective.some_empty = false;
        EXPECT_EQ(fault_of_groups(collective, pieces), "");
        collective.some_empty = true;
        EXPECT_EQ(fault_of_groups(collective, pieces), "") << "some empty";
      }
    }
  }
}

// Two that each wait for the other's packet before they send their own; two that expect each
// other's messages in another order; a message too few.
TEST(GroupsOfWrongSchedules, AreFound) {
  const auto fault_of = [](std::vector<Step> first, std::vector<Step> second) {
    Collective collective;
    collective.operation = Operation::kAllgather;
    collective.size = 2;
    collective.ranks = {{2, 2, 0, std::move(first)}, {2, 2, 0, std::move(second)}};
    return fault_of_groups(collective, {1, 1});
  };
  EXPECT_EQ(fault_of({send(0, 0, 1), receive(1, 1, 1)}, {send(1, 0, 0), receive(0, 1, 0)}), "");
  EXPECT_EQ(fault_of({receive(1, 1, 1), send(0, 0, 1)}, {receive(0, 1, 0), send(1, 0, 0)}),
            "rank 0 waits for ever in group 0");
  EXPECT_EQ(fault_of({send(0, 0, 1), send(1, 1, 1)}, {receive(1, 0, 0), receive(0, 1, 0)}),
            "from 0 to 1: a message meets another's end");
  EXPECT_EQ(fault_of({send(0, 0, 1)}, {}), "from 0 to 1: not all messages have another end");
}

// What is refused is so for a reason, and named here.
TEST(GroupsOfTheTable, LackTheseRows) {
  std::set<std::string> refused;
  for (const Row& row : algorithms()) {
    if (can_be_enqueued(row)) continue;
    refused.insert(name_of(row));
    std::string fault;
    for (const Trial& trial : trials_of(row, 5)) {
      if (fault.empty()) fault = fault_of_groups(collective_of(row, trial.topology), {3, 1});
    }
    EXPECT_NE(fault, "") << name_of(row);
  }
  EXPECT_EQ(refused, (std::set<std::string>{"allgather_ring_two_level", "allreduce_ring_two_level",
                                            "reduce_scatter_ring_two_level"}));
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  std::copy_if(algorithms().begin(), algorithms().end(), std::back_inserter(rows), can_be_enqueued);
  return rows;
}

std::string test_name(const ::testing::TestParamInfo<Row>& info) { return name_of(info.param); }

INSTANTIATE_TEST_SUITE_P(Table, Groups, ::testing::ValuesIn(rows()), test_name);

}  // namespace
}  // namespace testing
}  // namespace thinwire::collective
