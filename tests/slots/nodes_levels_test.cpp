// Two levels: means, factors, blocks that are packed, damage.
#include <gtest/gtest.h>

#include "layouts.h"
#include "member.h"

namespace thinwire::slots {
namespace {

// A mean of finite values is finite on nodes of any size, also if their sum has no room in the
// type.
TEST(NodesMean, OfLargeValuesIsFinite) {
  // With nodes of 11 and 6 a sum that is rounded for each node would be infinite.
  Layout many(11, 0);
  for (std::uint32_t rank = 0; rank < 18; ++rank) many.push_back(1 + rank / 6);
  const Layout even{0, 0, 1, 1};
  for (const Layout& nodes : {even, {0, 0, 0, 1, 1, 0}, {0, 1, 1}, many}) {
    for (const std::uint32_t operation : {TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE}) {
      Case given = case_on(nodes, operation);
      given.dtype = TW_F16;
      given.spec = "lorenzo";
      given.count = 3000;
      given.scale = 1.0 / given.ranks;
      given.large = true;
      ASSERT_EQ(given.has_levels(), nodes == even);
      const Bytes mean = expected_of(given, arrays_of(given), 0);
      for (std::uint64_t at = 0; at < mean.size(); at += 2) {
        ASSERT_LT(std::to_integer<int>(mean[at + 1]) & 0x7F, 0x7C) << "not finite";
      }
      expect_case(given);
    }
  }
}

constexpr std::uint32_t kSums[] = {TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE};

// Each rank's factor goes with its values, as a number or from where the stream reads it, also if
// the node's sums are spilled.
TEST(NodesFactors, MultiplyBeforeTheSumOfANode) {
  std::mt19937 random(7);
  for (const std::uint32_t operation : kSums) {
    for (const std::uint32_t dtype : {TW_F32, TW_F64, TW_F16, TW_BF16}) {
      for (const char* const spec : {"lorenzo", "szp:abs=1e-3"}) {
        if (!Codec(spec).takes(dtype)) continue;
        for (int round = 0; round < 8; ++round) {
          const Layout nodes = round == 0 ? Layout{0, 0, 1, 1} : random_layout(random);
          Case given = case_on(nodes, operation);
          given.spec = spec;
          given.dtype = dtype;
          given.count = 1 + random() % 5000;
          given.capacity = round % 3 == 0 ? 1 : 512;
          given.scale = round % 2 == 0 ? 0 : 0.25;
          given.root = given.ranks - 1;
          given.in_place = round % 4 > 1;
          given.factors = round % 2 == 0 ? Factors::kInMemory : Factors::kNumbers;
          expect_case(given);
        }
      }
    }
  }
}

// Values are raw inside a node, so fewer bytes are coded than in one level.
TEST(NodesFactors, GoInTwoLevels) {
  World world(4);
  const Comm comm = make_comm(world, 1, true, {0, 0, 1, 1});
  const Codec codec("mpc");
  for (const std::uint32_t operation : kSums) {
    auto options = options_of(operation, TW_F32, 8 * 4096, codec.handle.get());
    const auto other = describe(make_plan(comm, options));
    options.flags = TW_STREAM_PREMULTIPLIED;
    const auto info = describe(make_plan(comm, options));
    EXPECT_EQ(info.in_levels, 1U);
    EXPECT_EQ(info.raw_bytes, other.raw_bytes);
    EXPECT_EQ(info.plain_bytes, other.plain_bytes + 16) << "one rank more on this node";
    EXPECT_EQ(info.launches, other.launches + 1);
    EXPECT_EQ(info.messages, other.messages + 2);
  }
}

Layout even_layout(std::uint32_t nodes, std::uint32_t each, bool in_turn) {
  Layout made;
  for (std::uint32_t rank = 0; rank < nodes * each; ++rank) {
    made.push_back(in_turn ? rank % nodes : rank / each);
  }
  return made;
}

// Blocks of the program's are packed for the ranks of a node, if that spares enough messages: nodes
// that follow each other or take turns, and such as do neither.
TEST(NodesPacked, EveryValueComesToItsPlace) {
  const Layout mixed = {0, 0, 1, 2, 1, 2};
  for (const Layout& nodes : {even_layout(3, 2, false), even_layout(4, 3, true), mixed}) {
    for (const char* const spec : {"mpc", "szp:abs=1e-3"}) {
      for (const Factors factors : {Factors::kNone, Factors::kNumbers}) {
        Case given = case_on(nodes, TW_STREAM_REDUCE_SCATTER);
        given.spec = spec;
        given.factors = factors;
        for (const std::uint64_t count : {1, 1025, 4099}) {
          given.count = count;
          given.offset = count % 4;
          given.in_place = !given.in_place;
          given.capacity = count == 1025 ? 1 : 512;
          expect_case(given);
        }
      }
    }
  }
}

TEST(NodesPacked, GathersOfManyNodes) {
  for (const bool in_turn : {false, true}) {
    for (const char* const spec : {"mpc", "szp:abs=1e-3"}) {
      Case given = case_on(even_layout(17, 2, in_turn), TW_STREAM_ALLGATHER);
      given.spec = spec;
      for (const bool in_place : {false, true}) {
        given.in_place = in_place;
        given.count = in_place ? 33 : 200;
        given.noisy = {3};
        given.capacity = 440;
        expect_case(given);
      }
    }
  }
}

std::uint64_t messages_of(std::uint32_t operation, const Layout& nodes, std::uint64_t count) {
  World world(static_cast<int>(nodes.size()));
  const Comm comm = make_comm(world, 1, true, nodes);
  const Codec codec("mpc");
  return describe(make_plan(comm, options_of(operation, TW_F32, count, codec.handle.get())))
      .messages;
}

// A rank sends each other one of its node one message, or one a node.
TEST(NodesPacked, AreOneMessageARankIfThatSparesTime) {
  const std::uint64_t between = 2 * 63;
  for (const std::uint32_t operation : {TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLGATHER}) {
    for (const bool in_turn : {false, true}) {
      const Layout nodes = even_layout(64, 8, in_turn);
      EXPECT_EQ(messages_of(operation, nodes, 4096), between + 2 * 7);
      EXPECT_EQ(messages_of(operation, nodes, 32 * 1024), between + 2 * 7);
      EXPECT_EQ(messages_of(operation, nodes, 64 * 1024), between + 2 * 7 * 64) << "above 64 MiB";
    }
    EXPECT_EQ(messages_of(operation, even_layout(8, 8, false), 256 * 1024), 2 * 7 + 2 * 7 * 8)
        << "copying 64 MiB takes longer than 98 messages";
    EXPECT_EQ(messages_of(operation, even_layout(2, 8, false), 4096), 2 + 2 * 7 * 2);
  }
}

// One sum of a node is damaged on its way to rank 0, which owns the first block.
void expect_damage(const Layout& nodes, std::uint32_t flags) {
  constexpr std::uint64_t kCount = 40'000;
  const int ranks = static_cast<int>(nodes.size());
  const int other = static_cast<int>(std::ranges::find(nodes, nodes[0] + 1) - nodes.begin());
  World world(ranks);
  Carrier carrier;
  bool is_first = true;
  world.tamper([&](int from, int to, std::byte* data, std::uint64_t) {
    if (from != other || to != 0 || !is_first) return;
    data[17] ^= std::byte{1};
    is_first = false;
  });
  on_ranks(ranks, [&](int rank) {
    const Comm comm = make_comm(world, rank, true, nodes);
    const Codec codec("mpc");
    const Mailbox mailbox(16 * 1024);
    auto options = options_of(TW_STREAM_ALLREDUCE, TW_F32, kCount, codec.handle.get());
    options.flags = flags;
    const Plan plan = make_plan(comm, options);
    ASSERT_EQ(describe(plan).in_levels, 1U);
    const Lent lent(plan);
    carrier.serve(rank, mailbox.memory);
    Bytes values = values_of(TW_F32, kCount, rank, Data::kSmooth);
    Stream stream;
    tw_stream_call call{};
    call.size = sizeof call;
    call.plan = plan.get();
    call.number = 3;
    call.send = call.receive = values.data();
    call.mailbox = mailbox.memory;
    call.factor = 0.5;
    lent.lend(call);
    call.stream = &stream;
    ASSERT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
    stream.wait();
    // Other ranks of a node get the values without a slot, and no word of what became of them.
    check(plan, lent.record, rank == 0 ? TW_DAMAGED : rank == other ? TW_INTERNAL : TW_OK);
    EXPECT_TRUE(all_nan(values.data(), 1024)) << rank;
    EXPECT_FALSE(all_nan(values.data() + 4 * (kCount - 1), 1)) << rank;
    carrier.stop_serving(mailbox.memory);
  });
}

TEST(NodesDamage, OfANodesSumMakesItsBlockNaNEverywhere) {
  for (const Layout& nodes : {Layout{0, 0, 1, 1}, Layout{0, 0, 1}}) {
    expect_damage(nodes, 0);
    expect_damage(nodes, TW_STREAM_PREMULTIPLIED);
  }
}

}  // namespace
}  // namespace thinwire::slots
