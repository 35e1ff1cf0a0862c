// The cost model of blocks that leave a node and of those that stay there.
#include "plan/work.h"

#include <gtest/gtest.h>

#include <limits>

namespace thinwire::plan {
namespace {

using enum Operation;
using enum Algorithm;

constexpr double kMiB = 1 << 20;
constexpr double kLink = 1.25e9;
constexpr double kInside = 5e9;
constexpr double kRatio = 8;

// 64 MiB at a rank or the root, 16 ranks on 4 nodes.
double predicted(Operation operation, Algorithm algorithm, const CodecCost& codec) {
  const Work work = work_of({operation, algorithm, Coding::kTwoLevel}, {.ranks = 16, .nodes = 4});
  const Speeds speeds{.link_bytes_per_second = kLink, .codec = codec};
  const double bytes = 64 * kMiB;
  return seconds_of(work, bytes, static_cast<double>(piece_bytes_of(work, bytes, speeds)), speeds);
}

double raw(Operation operation, Algorithm algorithm) {
  constexpr double kNoTime = std::numeric_limits<double>::infinity();
  return predicted(operation, algorithm, {kNoTime, kNoTime, 1});
}

double coded(Operation operation, Algorithm algorithm) {
  return predicted(operation, algorithm, {50e9, 50e9, kRatio});
}

// 12 of 16 blocks of 4 MiB leave the node and 3 stay in it: of each of the `ranks` that share a
// link.
void expect_blocks(Operation operation, Algorithm algorithm, double ranks) {
  const double leave = ranks * 12 * 4 * kMiB / kLink, stay = ranks * 3 * 4 * kMiB / kInside;
  EXPECT_GT(raw(operation, algorithm), leave + stay);
  EXPECT_LT(raw(operation, algorithm), (leave + stay) * 1.1);
  EXPECT_GT(coded(operation, algorithm), leave / kRatio + stay);
  EXPECT_LT(coded(operation, algorithm), (leave / kRatio + stay) * 1.2);
}

TEST(WorkOfTwoLevels, HasTheRanksOfANodeShareItsLink) { expect_blocks(kAlltoall, kPairwise, 4); }

TEST(WorkOfTwoLevels, CountsWhatLeavesTheRootOnce) {
  for (const Operation operation : {kGather, kScatter}) {
    expect_blocks(operation, kDirect, 1);
    // Leaders pass on, and code for all of their nodes.
    EXPECT_GT(coded(operation, kBinomial), coded(operation, kDirect));
  }
}

}  // namespace
}  // namespace thinwire::plan
