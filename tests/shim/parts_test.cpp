#include "shim/mpi/collective/parts.h"

#include <gtest/gtest.h>

namespace thinwire::mpi {
namespace {

using Nodes = std::vector<std::int32_t>;

constexpr double kGigabit = 1e9 / 8;

TEST(Parts, PayOnSlowLinks) {
  const Nodes four{0, 0, 2, 3, 4};
  EXPECT_TRUE(pays_in_parts(0.1 * kGigabit, four));
  EXPECT_TRUE(pays_in_parts(2.5 * kGigabit, four));
  EXPECT_FALSE(pays_in_parts(10 * kGigabit, four));
}

TEST(Parts, PayLongerBetweenTwoNodes) {
  const Nodes two{0, 0, 2, 2};
  EXPECT_TRUE(pays_in_parts(10 * kGigabit, two));
  EXPECT_FALSE(pays_in_parts(25 * kGigabit, two));
}

TEST(Parts, AreOfLinksThatAreThereAndKnown) {
  EXPECT_FALSE(pays_in_parts(0, {0, 1}));
  EXPECT_FALSE(pays_in_parts(kGigabit, {3, 3, 3}));
  EXPECT_FALSE(pays_in_parts(kGigabit, {}));
}

TEST(Parts, HaveTagsThatNoOtherTransportHas) {
  EXPECT_NE(tag_of_data(0), tag_of_lengths(0));
  EXPECT_LT(tag_of_lengths(0), tag_of_data(1));
  EXPECT_LE(tag_of_lengths(16383), 32767);  // MPI promises no more
}

}  // namespace
}  // namespace thinwire::mpi
