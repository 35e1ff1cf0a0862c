// The sample of a bounded size: its bound, and that early and late arrays have the same chance.
#include "shim/mpi/observe/reservoir.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace thinwire::mpi {
namespace {

// The arrays kept after `offers` arrays of each of `kinds` kinds have been offered: their bytes by
// number.
std::map<std::uint64_t, std::uint64_t> kept_of(Reservoir& reservoir, std::uint64_t most,
                                               std::uint64_t offers,
                                               const std::vector<std::uint64_t>& kinds) {
  std::map<std::uint64_t, std::uint64_t> kept;
  for (std::uint64_t turn = 0; turn < offers; ++turn) {
    for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
      const Reservoir::Verdict verdict = reservoir.offer(kind, kinds[kind]);
      for (const std::uint64_t number : verdict.dropped) EXPECT_EQ(kept.erase(number), 1U);
      if (verdict.keep) kept[verdict.number] = kinds[kind];
      std::uint64_t bytes = 0;
      for (const auto& [number, each] : kept) bytes += each;
      EXPECT_EQ(bytes, reservoir.bytes());
      EXPECT_LE(bytes, most);
    }
  }
  return kept;
}

TEST(Reservoir, EarlyAndLateArraysHaveTheSameChance) {
  std::map<std::uint64_t, int> by_quarter;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Reservoir reservoir(100'000, seed);
    for (const auto& [number, bytes] : kept_of(reservoir, 100'000, 1000, {1000})) {
      ++by_quarter[number / 250];
    }
  }
  // 20 samples of 100: 500 a quarter, with a standard deviation of 18.
  for (std::uint64_t quarter = 0; quarter < 4; ++quarter) {
    EXPECT_NEAR(by_quarter[quarter], 500, 90) << quarter;
  }
}

TEST(Reservoir, KindsShareTheBytes) {
  Reservoir reservoir(300'000, 5);
  std::map<std::uint64_t, std::uint64_t> by_size;
  for (const auto& [number, bytes] : kept_of(reservoir, 300'000, 2000, {500, 5'000, 20'000})) {
    by_size[bytes] += bytes;
  }
  for (const auto& [size, bytes] : by_size) EXPECT_NEAR(bytes, 100'000, 25'000) << size;
  EXPECT_EQ(by_size.size(), 3U);
}

TEST(Reservoir, RareKindsStayInIt) {
  Reservoir reservoir(100'000, 3);
  ASSERT_TRUE(reservoir.offer(7, 10'000).keep);
  for (int turn = 0; turn < 5000; ++turn) {
    const Reservoir::Verdict verdict = reservoir.offer(1, 1000);
    for (const std::uint64_t number : verdict.dropped) EXPECT_NE(number, 0U);
  }
}

TEST(Reservoir, WhatIsLargerThanAllIsLeftOut) {
  Reservoir reservoir(1000, 1);
  EXPECT_FALSE(reservoir.offer(0, 1001).keep);
  EXPECT_TRUE(reservoir.offer(0, 1000).keep);
  EXPECT_EQ(reservoir.bytes(), 1000U);
}

}  // namespace
}  // namespace thinwire::mpi
