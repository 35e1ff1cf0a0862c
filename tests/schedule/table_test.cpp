// Facts of the table about its rows, and what they may cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "collective.h"
#include "prove.h"

namespace thinwire::collective::testing {
namespace {

TEST(Table, FindsItsRows) {
  std::set<std::string> names;
  for (const Row& row : algorithms()) {
    EXPECT_EQ(find_algorithm(row.operation, row.algorithm, row.coding), &row) << name_of(row);
    EXPECT_TRUE(names.insert(name_of(row)).second) << name_of(row);
  }
  EXPECT_EQ(find_algorithm(Operation::kBcast, Algorithm::kPairwise, Coding::kOnce), nullptr);
  EXPECT_EQ(find_algorithm(Operation::kBcast, Algorithm::kPlanned, Coding::kOnce), nullptr);
}

TEST(Table, HasARowForEachOperation) {
  for (int number = 0; number < plan::kOperationCount; ++number) {
    const auto operation = static_cast<Operation>(number);
    const auto rows = algorithms();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return row.operation == operation && row.coding == Coding::kOnce;
    })) << operation_name(operation);
  }
}

TEST(Table, CodesNothingForOneRank) {
  for (const Row& row : algorithms()) {
    EXPECT_EQ(row.codings(1), 0U) << name_of(row);
    for (const Step& step : row.make({}).steps) EXPECT_EQ(step.action, Action::kCopy);
  }
}

// True if one rank keeps all packets. Bruck's algorithm and recursive doubling pass on all they
// have in each round, who adds up in the order of the ranks holds what comes too early, and who
// adds exactly the values of all.
bool keeps_all_packets(const Row& row) {
  if (row.algorithm == Algorithm::kRankOrder || row.algorithm == Algorithm::kExact) return true;
  return row.operation == Operation::kAllgather &&
         (row.algorithm == Algorithm::kBruck || row.algorithm == Algorithm::kRecursiveDoubling);
}

TEST(Table, BoundsMemoryWhateverTheNumberOfRanks) {
  for (const Row& row : algorithms()) {
    if (keeps_all_packets(row)) continue;
    for (const Trial& trial : trials_of(row, 64)) {
      const auto& map = trial.topology.node_of;
      std::int64_t largest = 1;
      for (const auto node : map) {
        largest = std::max<std::int64_t>(largest, std::count(map.begin(), map.end(), node));
      }
      for (const Schedule& schedule : collective_of(row, trial.topology).ranks) {
        EXPECT_LE(schedule.slots, std::max<std::int64_t>(9, largest + 3))
            << name_of(row) << ", " << trial.name;
        EXPECT_LE(schedule.scratch, std::max<std::int64_t>(4, largest + 1))
            << name_of(row) << ", " << trial.name;
      }
    }
  }
}

TEST(Table, BoundsStepsByTheNumberOfRanks) {
  for (const Row& row : algorithms()) {
    for (const Trial& trial : trials_of(row, 64)) {
      for (const Schedule& schedule : collective_of(row, trial.topology).ranks) {
        EXPECT_LE(schedule.steps.size(), 10U * 64) << name_of(row) << ", " << trial.name;
      }
    }
  }
}

}  // namespace
}  // namespace thinwire::collective::testing
