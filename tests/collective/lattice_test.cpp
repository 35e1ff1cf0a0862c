// On the lattice a sum does not depend on the order, and coding it again changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codec/registry.h"
#include "collective/adapt.h"
#include "collective/adversaries.h"
#include "collective/budget.h"

namespace thinwire::collective {
namespace {

const codec::Codec& szp() { return *codec::find_codec("szp"); }

template <typename Value>
Budget budget_of(const Ranks<Value>& ranks, double bound, std::uint64_t codings) {
  BudgetFacts facts{.bound = {codec::ResultBound::Kind::kAbsolute, bound},
                    .codec = &szp(),
                    .dtype = kDtypeOf<Value>,
                    .codings = codings,
                    .ranks = static_cast<int>(ranks.size()),
                    .coded_ranks = static_cast<int>(ranks.size()),
                    .may_quantise_own = codings == ranks.size()};
  for (const Array<Value>& array : ranks) {
    facts.magnitudes +=
        statistics(kDtypeOf<Value>, array.size(), reinterpret_cast<const std::byte*>(array.data()))
            .largest;
  }
  facts.magnitudes = std::nextafter(facts.magnitudes * (1 + 1e-15), HUGE_VAL);
  return divide(facts);
}

template <typename Value>
bool same_bits(const Array<Value>& a, const Array<Value>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0;
}

template <typename Value>
class Lattice : public testing::Test {};
using Values = testing::Types<float, double>;
TYPED_TEST_SUITE(Lattice, Values);

// By any order, tree or detour: fl(integer * step), where the integers are what each rank's own
// values are quantised to.
TYPED_TEST(Lattice, SumsAreTheSameInEveryOrder) {
  int tried = 0;
  for (const Kind kind : {Kind::kSmooth, Kind::kNearTies, Kind::kCancelling}) {
    for (std::size_t size = 2; size <= 16; ++size) {
      const double bound = 0.3;
      const auto ranks =
          hard_arrays<TypeParam>(kind, 2 * bound / static_cast<double>(size), size, 4500, 5);
      const Budget budget = budget_of(ranks, bound, size);
      ASSERT_EQ(budget.reason, plan::Reason::kCompress);
      const Reducer<TypeParam> by(szp(), budget.parameter, Reduction::kSum);
      // A contribution that had to be stored is no point of the lattice.
      const double step = szp().spacing(budget.parameter, kDtypeOf<TypeParam>).step;
      Array<long double> sums(4500, 0);
      EXPECT_EQ(budget.quantises_own, budget.on_lattice);
      bool all_on_lattice = budget.on_lattice;
      for (const auto& array : ranks) {
        const auto decoded = by.coded(array);
        for (std::size_t at = 0; at < decoded.size(); ++at) {
          const long double integer = std::round(static_cast<long double>(decoded[at]) / step);
          all_on_lattice &= static_cast<TypeParam>(integer * step) == decoded[at];
          sums[at] += integer;
        }
      }
      if (!all_on_lattice) continue;
      ++tried;
      Array<TypeParam> expected(4500);
      for (std::size_t at = 0; at < expected.size(); ++at) {
        expected[at] = static_cast<TypeParam>(sums[at] * step);
      }
      std::vector<std::size_t> order(size);
      std::iota(order.begin(), order.end(), 0);
      std::mt19937 bits(1);
      for (int shuffle = 0; shuffle < 4; ++shuffle) {
        std::shuffle(order.begin(), order.end(), bits);
        EXPECT_TRUE(same_bits(by.direct(ranks, order, true), expected));
      }
      Ranks<TypeParam> quantised;
      for (const auto& array : ranks) quantised.push_back(by.coded(array));
      EXPECT_TRUE(same_bits(by.ring(quantised, 1), expected));
      EXPECT_TRUE(same_bits(by.ring_per_hop(quantised), expected));
      EXPECT_TRUE(same_bits(by.coded(by.recursive_doubling(ranks, true)[0]), expected));
    }
  }
  EXPECT_GE(tried, 25);
}

// So recursive doubling gets the bound of one coding a rank, not that of all its codings.
TYPED_TEST(Lattice, GivesRecursiveDoublingTheShareOfARank) {
  const auto ranks = hard_arrays<TypeParam>(Kind::kSmooth, 0.1, 8, 1000, 1);
  const Budget budget = budget_of(ranks, 0.8, 14);
  EXPECT_TRUE(budget.on_lattice);
  EXPECT_FALSE(budget.quantises_own);
  EXPECT_GT(budget.coding, 0.099);
  EXPECT_LE(budget.coding, 0.1);
}

// The rounding of a sum of lattice points follows the longest way to it: a tree's is short.
TEST(FewAdditions, KeepSumsOfManyRanksOnTheLattice) {
  BudgetFacts facts{.bound = {codec::ResultBound::Kind::kAbsolute, 64 * 2 * 1e-4},
                    .codec = &szp(),
                    .codings = 126,
                    .ranks = 64,
                    .coded_ranks = 64,
                    .may_quantise_own = true,
                    .magnitudes = 64};
  const Budget ring = divide(facts);
  EXPECT_FALSE(ring.on_lattice);
  facts.additions = 6;
  const Budget doubling = divide(facts);
  EXPECT_TRUE(doubling.on_lattice);
  EXPECT_TRUE(doubling.quantises_own);
  EXPECT_GT(doubling.coding, 1.9 * ring.coding);
  EXPECT_GT(doubling.coding, 0.99 * facts.bound.value / 64);
}

TYPED_TEST(Lattice, EndsWhereRoundingsReachHalfAStep) {
  const auto ranks = hard_arrays<TypeParam>(Kind::kSmooth, 1, 4, 1000, 1);  // 1000 at most
  const double unit = sizeof(TypeParam) == 4 ? 0x1p-24 : 0x1p-53;
  // 4 ranks of 1000 each, roundings of 12 * 4000 * unit: within a quarter of a step or not.
  EXPECT_TRUE(budget_of(ranks, 4 * 12 * 4000 * unit * 4, 4).on_lattice ||
              sizeof(TypeParam) == 8);  // there the integers end before
  EXPECT_FALSE(budget_of(ranks, 4 * 12 * 4000 * unit, 4).on_lattice);
  EXPECT_FALSE(budget_of(ranks, 4000 * 0x1p-30, 4).on_lattice);
}

TEST(QuantiseOwn, CodesWhatWasCopied) {
  Schedule schedule{.blocks = 2, .slots = 3, .scratch = 1, .steps = {}};
  schedule.steps = {copy(1, Area::kScratch, Area::kInput, 0), receive(1, 2, 1),
                    reduce(1, Area::kScratch, 2), copy(0, Area::kOutput, Area::kScratch)};
  quantise_own(schedule);
  ASSERT_EQ(schedule.steps.size(), 5u);
  EXPECT_EQ(schedule.slots, 4u);
  EXPECT_EQ(schedule.steps[0].action, Action::kEncode);
  EXPECT_EQ(schedule.steps[0].from, Area::kInput);
  EXPECT_EQ(schedule.steps[0].slot, 3u);
  EXPECT_EQ(schedule.steps[1].action, Action::kDecode);
  EXPECT_EQ(schedule.steps[1].to, Area::kScratch);
  EXPECT_EQ(schedule.steps[1].slot, 3u);
  EXPECT_EQ(schedule.steps[4].action, Action::kCopy);
  Schedule without{.steps = {receive(0, 0, 1)}};
  quantise_own(without);
  EXPECT_EQ(without.slots, 0u);
  EXPECT_EQ(without.steps.size(), 1u);
}

}  // namespace
}  // namespace thinwire::collective
