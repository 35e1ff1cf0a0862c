// How bounds are divided: what is refused, what is monotone.
#include "collective/budget.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>

#include "../base/other_float_mode.h"
#include "codec/registry.h"

namespace thinwire::collective {
namespace {

using plan::Reason;
using Kind = codec::ResultBound::Kind;

BudgetFacts facts() {
  return {.bound = {Kind::kAbsolute, 1e-2},
          .codec = codec::find_codec("szp"),
          .codings = 4,
          .ranks = 4,
          .coded_ranks = 4,
          .magnitudes = 4,
          .ranges = 8};
}

TEST(Budget, IsAShareOfTheBoundLessTheRoundings) {
  const Budget budget = divide(facts());
  ASSERT_EQ(budget.reason, Reason::kCompress);
  EXPECT_EQ(budget.result, 1e-2);
  const double roundings = 3 * 0x1p-24 * 4;
  EXPECT_LT(budget.coding, (1e-2 - roundings) / 4);
  EXPECT_GT(budget.coding, (1e-2 - roundings) / 4 * (1 - 1e-6));
  EXPECT_EQ(std::bit_cast<double>(budget.parameter), budget.coding);
}

TEST(Budget, RefusesWhatAdditionsAloneMayBreak) {
  BudgetFacts about = facts();
  about.bound.value = 3 * 0x1p-24 * 4;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about.bound.value *= 1.01;
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about.dtype = Dtype::kF64;
  about.bound.value = 1e-10;
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about.bound.value = 1e-16;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
}

// Values are multiplied before they are added.
TEST(Budget, ChargesTheRoundingsOfFactorsAndTheirProducts) {
  BudgetFacts about = facts();
  about.factor = 0.25;
  const double roundings = 5 * 0x1p-24 * 4;
  EXPECT_LT(divide(about).coding, (1e-2 - roundings) / 4);
  EXPECT_GT(divide(about).coding, (1e-2 - roundings) / 4 * (1 - 1e-6));
  // Four products of which each may be off by the least number above zero.
  about.magnitudes = 0;
  about.bound.value = 0x1.8p-145;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about = facts();
  about.magnitudes = FLT_MAX / 16;
  about.bound.value = FLT_MAX / 32;
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about.factor = 8;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
}

TEST(Budget, RefusesWhatMayOverflowAndWhatHasNoLattice) {
  BudgetFacts about = facts();
  about.magnitudes = FLT_MAX / 4;
  about.bound.value = 1e36;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about.magnitudes = HUGE_VAL;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about.magnitudes = NAN;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about.magnitudes = 1e-40;
  about.bound.value = 1e-38;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about = facts();
  about.bound.value = 1e300;  // more than any fp32 is off
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about = facts();
  about.codings = 0;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about = facts();
  about.ranks = 1 << 22;  // roundings beyond the mathematics
  about.magnitudes = 0;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
}

TEST(Budget, OfARangeThatIsNoneIsRefused) {
  BudgetFacts about = facts();
  about.bound = {Kind::kRelative, 1e-2};
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about.ranges = 4 * 5e-324;  // sums of zeros, rounded up
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  about.ranges = 0;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);
  EXPECT_EQ(divide(about).result, 0);
}

TEST(Budget, IsTheSameInEveryFloatingPointMode) {
  BudgetFacts about = facts();
  for (const Kind kind : {Kind::kAbsolute, Kind::kRelative}) {
    for (const double value : {1e-1, 1e-2, 1e-3, 1e-4}) {
      about.bound = {kind, value};
      const Budget expected = divide(about);
      Budget found;
      {
        const OtherFloatMode mode;
        found = divide(about);
      }
      EXPECT_EQ(found.reason, expected.reason);
      EXPECT_EQ(found.parameter, expected.parameter);
      EXPECT_EQ(found.result, expected.result);
    }
  }
}

TEST(Budget, ProductsHaveNone) {
  BudgetFacts about = facts();
  about.reduction = plan::Reduction::kProduct;
  EXPECT_EQ(divide(about).reason, Reason::kOperation);
}

TEST(Budget, SixteenBitTypesLeaveLess) {
  BudgetFacts about = facts();
  about.bound.value = 1;
  const double f32 = divide(about).coding;
  about.dtype = Dtype::kF16;
  const double f16 = divide(about).coding;
  about.dtype = Dtype::kBf16;
  const double bf16 = divide(about).coding;
  EXPECT_LT(f16, f32);
  EXPECT_LT(bf16, f16);
  EXPECT_GT(bf16, 0);
  about.magnitudes = 20000;
  about.bound.value = 1000;
  EXPECT_EQ(divide(about).reason, Reason::kCompress);
  about.dtype = Dtype::kF16;
  EXPECT_EQ(divide(about).reason, Reason::kBoundTooSmall);  // 65504 is near
}

TEST(Budget, IsLessForMoreCodingsRanksAndMagnitudes) {
  const double first = divide(facts()).coding;
  BudgetFacts about = facts();
  about.codings = 5;
  about.coded_ranks = 5;
  EXPECT_LT(divide(about).coding, first);
  about = facts();
  about.ranks = 64;
  EXPECT_LT(divide(about).coding, first);
  about = facts();
  about.magnitudes = 40;
  EXPECT_LT(divide(about).coding, first);
  about = facts();
  about.bound.value *= 2;
  EXPECT_GT(divide(about).coding, 2 * first);
}

// Values of a node are added as they are, so its sum is what is coded.
TEST(Budget, TwoLevelsCodeLess) {
  BudgetFacts about = facts();
  about.ranks = 16;
  about.codings = 16;
  about.coded_ranks = 16;
  const double flat = divide(about).coding;
  about.codings = 4;
  about.coded_ranks = 4;
  EXPECT_GT(divide(about).coding, 3.99 * flat);
}

}  // namespace
}  // namespace thinwire::collective
