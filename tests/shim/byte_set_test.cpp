#include "shim/mpi/state/byte_set.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "random_elements.h"

namespace thinwire::mpi {
namespace {

std::optional<ByteSet> set_of(const Pattern& pattern) {
  if (pattern.elements.map) return ByteSet::of(pattern.elements, pattern.count);
  const auto first = reinterpret_cast<std::intptr_t>(pattern.elements.buffer);
  return ByteSet({first, first + static_cast<std::int64_t>(pattern.bytes.size())});
}

std::set<std::int64_t> addresses(const Pattern& pattern) {
  std::set<std::int64_t> all;
  for (const std::byte* byte : pattern.bytes) all.insert(reinterpret_cast<std::intptr_t>(byte));
  return all;
}

bool share(const ByteSet& one, const ByteSet& other) {
  int steps = std::numeric_limits<int>::max();
  return may_share(one, other, steps);
}

TEST(ByteSet, StretchesAreTheElementsBytes) {
  Random random(5);
  int said = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> memory(400);
    const Pattern pattern = random_pattern(random, memory);
    const auto set = set_of(pattern);
    const auto expected = addresses(pattern);
    if (!set) continue;
    ++said;
    ASSERT_EQ(set->hull().first, *expected.begin());
    ASSERT_EQ(set->hull().last, *expected.rbegin() + 1);
    const auto low = reinterpret_cast<std::intptr_t>(memory.data());
    Range rest{low + random.below(100), low + random.between(100, 400)};
    std::set<std::int64_t> found,
        wanted(expected.lower_bound(rest.first), expected.lower_bound(rest.last));
    while (const auto stretch = set->next(rest)) {
      ASSERT_LT(stretch->first, stretch->last);
      for (std::int64_t at = stretch->first; at < stretch->last; ++at) found.insert(at);
      rest.first = stretch->last;
    }
    ASSERT_EQ(found, wanted);
  }
  EXPECT_GT(said, 1500);
}

TEST(ByteSet, SharingIsByByte) {
  Random random(6);
  int sharing = 0, hulls_only = 0;
  for (int round = 0; round < 8000; ++round) {
    std::vector<std::byte> memory(400);
    const Pattern one = random_pattern(random, memory), other = random_pattern(random, memory);
    const auto first = set_of(one), second = set_of(other);
    if (!first || !second) continue;
    const auto mine = addresses(one), theirs = addresses(other);
    bool expected = false;
    for (const std::int64_t address : mine) expected = expected || theirs.contains(address);
    ASSERT_EQ(share(*first, *second), expected) << round;
    ASSERT_EQ(share(*second, *first), expected) << round;
    sharing += expected;
    hulls_only += !expected && first->hull().first < second->hull().last &&
                  second->hull().first < first->hull().last;
  }
  EXPECT_GT(sharing, 300);
  EXPECT_GT(hulls_only, 300);
}

// Columns of one array, however many rows it has.
TEST(ByteSet, ColumnsAreComparedInAFewSteps) {
  constexpr std::int64_t kRows = 1'000'000, kRow = 4096;
  std::vector<tw_segment> segments;
  for (std::int64_t row = 0; row < kRows; ++row) segments.push_back({row * kRow, 8});
  const auto map = std::make_shared<TypeMap>(std::move(segments), 8);
  const auto column = [&](std::int64_t at, std::uint64_t count) {
    return *ByteSet::of({reinterpret_cast<void*>(0x1000000 + 8 * at), map}, count);
  };
  int steps = 10;
  EXPECT_FALSE(may_share(column(3, 1), column(4, 1), steps));
  EXPECT_FALSE(may_share(column(0, 4), column(4, 8), steps));
  EXPECT_TRUE(may_share(column(0, 5), column(4, 8), steps));
  EXPECT_GE(steps, 0);
}

TEST(ByteSet, WhatTakesTooLongMayShare) {
  std::vector<tw_segment> even, odd;
  for (std::int64_t at = 0; at < 1000; ++at) {
    even.push_back({at * 20 + at % 3, 4});
    odd.push_back({at * 20 + 10 + at % 5, 4});
  }
  const ByteSet one = *ByteSet::of({nullptr, std::make_shared<TypeMap>(even, 20000)}, 1);
  const ByteSet other = *ByteSet::of({nullptr, std::make_shared<TypeMap>(odd, 20000)}, 1);
  int few = 100, enough = 3000;
  EXPECT_TRUE(may_share(one, other, few));
  EXPECT_FALSE(may_share(one, other, enough));
}

TEST(ByteSet, ElementsThatOverlapAreNotSaid) {
  const auto map = std::make_shared<TypeMap>(std::vector<tw_segment>{{0, 8}, {12, 4}}, 4);
  EXPECT_TRUE(ByteSet::of({nullptr, map}, 1));
  EXPECT_FALSE(ByteSet::of({nullptr, map}, 2));
  const auto still = std::make_shared<TypeMap>(std::vector<tw_segment>{{0, 8}}, 0);
  EXPECT_FALSE(ByteSet::of({nullptr, still}, 2));
}

}  // namespace
}  // namespace thinwire::mpi
