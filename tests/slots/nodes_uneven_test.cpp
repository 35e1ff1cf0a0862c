// Allgather and reduce-scatter in two levels on nodes that differ in size: where values go, and how
// many messages that takes.
#include <gtest/gtest.h>

#include "layouts.h"
#include "member.h"

namespace thinwire::slots {
namespace {

using Sizes = std::vector<std::size_t>;

Layout layout_of(const Sizes& sizes) {
  Layout made;
  for (std::uint32_t node = 0; node < sizes.size(); ++node)
    made.insert(made.end(), sizes[node], node);
  return made;
}

// So many nodes of `each` ranks, but one that lacks one.
Sizes one_lost(std::size_t nodes, std::size_t each, std::size_t where) {
  Sizes sizes(nodes, each);
  --sizes[where];
  return sizes;
}

// Few nodes, whose blocks go one by one, and many, whose blocks are packed; ranks of a node that
// follow each other, and such as do not.
std::vector<Layout> layouts() {
  std::vector<Layout> made;
  for (const Sizes& sizes : {Sizes{2, 4, 3}, {3, 6, 6, 4}, {2, 1, 1}}) {
    made.push_back(layout_of(sizes));
  }
  for (const std::size_t where : {0, 8, 18}) made.push_back(layout_of(one_lost(19, 3, where)));
  std::mt19937 random(5);
  made.push_back(made.back());
  std::ranges::shuffle(made.back(), random);
  return made;
}

TEST(NodesUneven, EveryValueComesToItsPlace) {
  for (const Layout& nodes : layouts()) {
    for (const std::uint32_t operation : {TW_STREAM_ALLGATHER, TW_STREAM_REDUCE_SCATTER}) {
      for (const char* const spec : {"mpc", "szp:abs=1e-3"}) {
        Case given = case_on(nodes, operation);
        given.spec = spec;
        ASSERT_TRUE(given.has_levels());
        for (const std::uint64_t count : {1, 1025}) {
          given.count = count;
          given.offset = count % 4;
          given.capacity = count == 1025 ? 440 : 512;
          given.noisy = {2};
          given.in_place = !given.in_place;
          expect_case(given);
        }
      }
    }
  }
}

TEST(NodesUneven, FactorsAndMeans) {
  for (const Layout& nodes : layouts()) {
    Case given = case_on(nodes, TW_STREAM_REDUCE_SCATTER);
    given.spec = "lorenzo";
    given.count = 700;
    given.factors = Factors::kInMemory;
    expect_case(given);
    given.factors = Factors::kNone;
    given.scale = 1.0 / given.ranks;
    expect_case(given);
    given.dtype = TW_BF16;
    EXPECT_FALSE(given.has_levels());
    expect_case(given);
  }
}

std::uint64_t messages_of(std::uint32_t operation, const Layout& nodes, int rank) {
  World world(static_cast<int>(nodes.size()));
  const Comm comm = make_comm(world, rank, true, nodes);
  const Codec codec("mpc");
  const auto info =
      describe(make_plan(comm, options_of(operation, TW_F32, 4096, codec.handle.get())));
  EXPECT_EQ(info.in_levels, 1U);
  return info.messages;
}

// Each rank of the node that lacks one gets or sends some more: its share of that column.
TEST(NodesUneven, AreAsManyMessagesAsNodesAndMates) {
  constexpr std::uint64_t kNodes = 128, kEach = 8;
  for (const std::uint64_t where : {std::uint64_t{0}, std::uint64_t{60}, kNodes - 1}) {
    const Layout nodes = layout_of(one_lost(kNodes, kEach, where));
    for (const std::uint32_t operation : {TW_STREAM_ALLGATHER, TW_STREAM_REDUCE_SCATTER}) {
      for (const int rank : {0, 7, 8 * 30, 8 * 60 + 1, static_cast<int>(nodes.size()) - 1}) {
        const bool lacks = nodes[static_cast<std::size_t>(rank)] == where;
        const std::uint64_t usual = 2 * (kNodes - 1) + 2 * (kEach - 1);
        const std::uint64_t messages = messages_of(operation, nodes, rank);
        if (lacks) {
          // Two messages less, as it has a mate less.
          EXPECT_GE(messages, usual - 2 + (kNodes - 1) / (kEach - 1));
          EXPECT_LE(messages, usual - 2 + (kNodes - 1) / (kEach - 1) + 1);
        } else {
          // One less of a rank whose number that node has not.
          EXPECT_LE(messages, usual) << where << ", rank " << rank;
          EXPECT_GE(messages, usual - 1) << where << ", rank " << rank;
        }
      }
    }
  }
}

// Nodes of which one is less than half as large stay in one level.
TEST(NodesUneven, DifferLittle) {
  EXPECT_FALSE(case_on({0, 0, 0, 1}, TW_STREAM_REDUCE_SCATTER).has_levels());
  EXPECT_TRUE(case_on({0, 0, 1}, TW_STREAM_ALLGATHER).has_levels());
}

}  // namespace
}  // namespace thinwire::slots
