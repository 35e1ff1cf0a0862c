// With which ranks compressed calls would make NCCL connect.
#include "run/connections.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace thinwire::nccl {
namespace {

constexpr std::uint64_t kMate = 480 << 20, kOther = 40 << 20;
constexpr Exchange kInLevels{.in_levels = true};
const BytesOfPair kUsual{.mate = kMate, .another = kOther};

TEST(Connections, InOneLevelAreWithAllOthers) {
  const Connected connected(1, 4, kUsual);
  const Connections missing = connected.missing(RankNodes({0, 0, 1, 1}), {});
  EXPECT_EQ(missing.ranks, (std::set<int>{0, 2, 3}));
  EXPECT_EQ(missing.bytes, kMate + 2 * kOther);
}

TEST(Connections, InTwoLevelsAreWithMatesAndPeers) {
  // Three nodes of two: rank 3 is the second of node 1.
  const Connected connected(3, 6, kUsual);
  const Connections missing = connected.missing(RankNodes({0, 0, 1, 1, 2, 2}), kInLevels);
  EXPECT_EQ(missing.ranks, (std::set<int>{1, 2, 5}));
  EXPECT_EQ(missing.bytes, kMate + 2 * kOther);
}

TEST(Connections, OfNodesThatDifferInSizeAreWithPeersThatAllNodesHave) {
  const RankNodes nodes({0, 0, 0, 1, 1, 2, 2, 2});
  EXPECT_EQ(nodes.levels(), 3);
  const Connections missing = Connected(1, 8, kUsual).missing(nodes, kInLevels);
  EXPECT_EQ(missing.ranks, (std::set<int>{0, 2, 4, 6}));
  EXPECT_EQ(missing.bytes, 2 * kMate + 2 * kOther);
  EXPECT_EQ(Connected(2, 8, kUsual).missing(nodes, kInLevels).ranks, (std::set<int>{0, 1}))
      << "rank 7 is the third of its node, too, and node 1 has none";
}

TEST(Connections, MatesWithoutAColumnAreNotAmongThem) {
  const RankNodes nodes({0, 0, 0, 0, 1, 1});
  Connected connected(2, 6, kUsual);
  const Connections missing = connected.missing(nodes, kInLevels);
  EXPECT_EQ(missing.ranks, (std::set<int>{0, 1})) << "3 has none either";
  connected.add(missing, kInLevels);
  EXPECT_EQ(connected.missing(nodes, {}).ranks, (std::set<int>{3, 4, 5}));
}

TEST(Connections, ARootIsWithAllThatHaveAColumn) {
  const RankNodes nodes({0, 0, 0, 0, 1, 1});
  const Exchange to_3{.in_levels = true, .root = 3}, to_0{.in_levels = true, .root = 0};
  EXPECT_EQ(Connected(3, 6, kUsual).missing(nodes, to_3).ranks, (std::set<int>{0, 1, 4, 5}));
  EXPECT_EQ(Connected(5, 6, kUsual).missing(nodes, to_3).ranks, (std::set<int>{1, 3, 4}));
  Connected connected(4, 6, kUsual);
  connected.add(connected.missing(nodes, to_3), to_3);
  EXPECT_TRUE(connected.are_made(to_3));
  EXPECT_FALSE(connected.are_made(to_0));
  EXPECT_TRUE(connected.missing(nodes, to_0).ranks.empty()) << "a peer is there already";
}

// Rank 7 is the third of its node, as 2 is, and node 1 has none: its ranks take turns.
TEST(Connections, OfRanksBlocksAreWithThoseThatStandIn) {
  const RankNodes nodes({0, 0, 0, 1, 1, 2, 2, 2});
  const Exchange of_ranks{.in_levels = true, .of_ranks = true};
  EXPECT_EQ(Connected(2, 8, kUsual).missing(nodes, of_ranks).ranks, (std::set<int>{0, 1, 3, 7}));
  EXPECT_EQ(Connected(7, 8, kUsual).missing(nodes, of_ranks).ranks, (std::set<int>{2, 3, 5, 6}));
  EXPECT_EQ(Connected(3, 8, kUsual).missing(nodes, of_ranks).ranks, (std::set<int>{0, 2, 4, 5, 7}));
  EXPECT_EQ(Connected(4, 8, kUsual).missing(nodes, of_ranks).ranks, (std::set<int>{1, 3, 6}));
  Connected connected(2, 8, kUsual);
  connected.add(connected.missing(nodes, of_ranks), of_ranks);
  EXPECT_FALSE(connected.are_made(kInLevels));
}

TEST(Connections, LevelsAreOfNodesThatDifferLittle) {
  EXPECT_EQ(RankNodes({0, 0, 1}).levels(), 2);
  EXPECT_EQ(RankNodes({0, 0, 0, 1}).levels(), 0);
  EXPECT_EQ(RankNodes({0, 1, 2}).levels(), 0);
  EXPECT_EQ(RankNodes({0, 0, 0}).levels(), 0);
}

TEST(Connections, WhatTheProgramHasIsNotMissing) {
  Connected connected(0, 4, kUsual);
  connected.note_message(1, true);
  connected.note_message(2, true);
  connected.note_message(2, false);
  EXPECT_EQ(connected.missing({}, {}).ranks, (std::set<int>{1, 3})) << "one way is half";
  connected.note_messages_with_all();
  EXPECT_TRUE(connected.missing({}, {}).ranks.empty());
}

TEST(Connections, OfAnEarlierKindAreThere) {
  Connected connected(0, 4, kUsual);
  connected.add(connected.missing({}, {}), {});
  EXPECT_EQ(connected.missing({}, {}).bytes, 0);
  EXPECT_TRUE(connected.are_made(kInLevels)) << "those of two levels are among them";
}

TEST(Connections, OfTwoLevelsAreNotAll) {
  const RankNodes nodes({0, 0, 1, 1});
  Connected connected(0, 4, kUsual);
  connected.add(connected.missing(nodes, kInLevels), kInLevels);
  EXPECT_TRUE(connected.are_made(kInLevels));
  EXPECT_FALSE(connected.are_made({}));
  EXPECT_EQ(connected.missing(nodes, {}).ranks, std::set<int>{3});
}

// Variables by name.
BytesOfPair with(const std::map<std::string, const char*>& named) {
  return bytes_of_pair([&](const char* name) -> const char* {
    const auto found = named.find(name);
    return found == named.end() ? nullptr : found->second;
  });
}

TEST(Connections, TakeWhatChannelsAndBuffersDo) {
  EXPECT_EQ(with({}).mate, kMate);
  EXPECT_EQ(with({}).another, kOther);
  const BytesOfPair smaller =
      with({{"NCCL_BUFFSIZE", "0x100000"}, {"NCCL_NCHANNELS_PER_PEER", "4"}});
  EXPECT_EQ(smaller.mate, 4 * (2 + 7) << 20);
  EXPECT_EQ(smaller.another, 2 * 2 * (1 + 6) << 20);
  EXPECT_EQ(with({{"NCCL_MAX_P2P_NCHANNELS", "8"}}).mate, kMate / 4);
  EXPECT_EQ(with({{"NCCL_NCHANNELS_PER_NET_PEER", "4"}}).another, 2 * kOther);
  for (const char* wrong : {"", "-1", "many"}) {
    EXPECT_EQ(with({{"NCCL_BUFFSIZE", wrong}}).mate, kMate) << wrong;
  }
}

}  // namespace
}  // namespace thinwire::nccl
