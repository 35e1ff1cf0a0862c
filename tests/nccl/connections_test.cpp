// With which ranks compressed calls would make NCCL connect.
#include "coding/connections.h"

#include <gtest/gtest.h>

namespace thinwire::nccl {
namespace {

constexpr std::uint64_t kMate = 480 << 20, kOther = 32 << 20;

TEST(Connections, InOneLevelAreWithAllOthers) {
  const Connected connected(1, 4);
  const Connections missing = connected.missing(RankNodes({0, 0, 1, 1}), false);
  EXPECT_EQ(missing.ranks, (std::set<int>{0, 2, 3}));
  EXPECT_EQ(missing.bytes, kMate + 2 * kOther);
}

TEST(Connections, InTwoLevelsAreWithMatesAndPeers) {
  // Three nodes of two: rank 3 is the second of node 1.
  const Connected connected(3, 6);
  const Connections missing = connected.missing(RankNodes({0, 0, 1, 1, 2, 2}), true);
  EXPECT_EQ(missing.ranks, (std::set<int>{1, 2, 5}));
  EXPECT_EQ(missing.bytes, kMate + 2 * kOther);
}

TEST(Connections, WhatTheProgramHasIsNotMissing) {
  Connected connected(0, 4);
  connected.note_message(1, true);
  connected.note_message(2, true);
  connected.note_message(2, false);
  EXPECT_EQ(connected.missing({}, false).ranks, (std::set<int>{1, 3})) << "one way is half";
  connected.note_messages_with_all();
  EXPECT_TRUE(connected.missing({}, false).ranks.empty());
}

TEST(Connections, OfAnEarlierClassAreThere) {
  Connected connected(0, 4);
  connected.add(connected.missing({}, false));
  EXPECT_EQ(connected.missing({}, false).bytes, 0);
}

}  // namespace
}  // namespace thinwire::nccl
