// Ranks that share nodes: as they are inside, in slots between, and in two levels if that fits.
#include <gtest/gtest.h>

#include "layouts.h"

namespace thinwire::slots {
namespace {

// Two by two, three by two and their ranks in turn, two by four; nodes that differ in size, of
// which sums of large arrays have levels; and such as have none.
const Layout kLayouts[] = {{7, 7, 9, 9},
                           {0, 1, 0, 1},
                           {0, 0, 1, 1, 2, 2},
                           {0, 1, 2, 0, 1, 2},
                           {0, 0, 0, 0, 1, 1, 1, 1},
                           {0, 0, 1},
                           {1, 0, 0, 0, 1},
                           {2, 1, 1, 2, 1, 3, 3},
                           {0, 0, 0, 1},
                           {3, 3, 3},
                           {0, 1, 2}};

constexpr std::uint32_t kOperations[] = {
    TW_STREAM_ALLGATHER,      TW_STREAM_BCAST,     TW_STREAM_SEND,
    TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE, TW_STREAM_ALLTOALL,
    TW_STREAM_GATHER_AT_ROOT, TW_STREAM_SCATTER,   TW_STREAM_REDUCE};

class OnNodes : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(OnNodes, EveryLayoutAndCountGivesTheExactResult) {
  for (const Layout& nodes : kLayouts) {
    Case given = case_on(nodes, GetParam());
    given.root = given.ranks - 1;
    for (const char* const spec : {"mpc", "szp:abs=1e-3"}) {
      given.spec = spec;
      for (const std::uint64_t count : {0, 1, 1025, 4099}) {
        given.count = count;
        given.offset = count % 4;
        for (const bool in_place : {false, true}) {
          given.in_place = in_place;
          expect_case(given);
        }
      }
    }
  }
}

TEST_P(OnNodes, AnyNodesAndAnyNumberOfRanks) {
  std::mt19937 random(GetParam());
  for (int round = 0; round < 40; ++round) {
    const Layout nodes = random_layout(random);
    if (nodes.size() < 2) continue;
    Case given = case_on(nodes, GetParam());
    given.root = static_cast<int>(random() % nodes.size());
    given.spec = random() % 3 == 0 ? "szp:abs=1e-3" : "mpc";
    given.dtype = random() % 3 == 0 ? TW_F64 : TW_F32;
    given.count = 1 + random() % (3 * 1024 * nodes.size());
    given.capacity = random() % 2 == 0 ? 512 : 440;
    given.scale = random() % 2 == 0 ? 1.0 / given.ranks : 0;
    given.in_place = random() % 2 == 0;
    given.seed = round;
    if (random() % 3 == 0) given.noisy = {static_cast<int>(random() % nodes.size())};
    expect_case(given);
  }
}

TEST_P(OnNodes, EveryCodecAndDtype) {
  for (const char* const spec : {"expack", "lorenzo", "zfp:rate=12", "auto"}) {
    for (const std::uint32_t dtype : {TW_F32, TW_F64, TW_F16, TW_BF16}) {
      for (const Layout& nodes : {Layout{0, 0, 1, 1}, Layout{0, 0, 1, 0, 1}}) {
        Case given = case_on(nodes, GetParam());
        given.spec = spec;
        given.dtype = dtype;
        given.count = 8192;
        given.scale = 0.25;
        if (Codec(spec).takes(dtype)) expect_case(given);
      }
    }
  }
}

TEST_P(OnNodes, WhatDoesNotFitComesWhole) {
  for (const Layout& nodes :
       {Layout{0, 0, 1, 1, 2, 2}, Layout{0, 1, 2, 0, 1, 2}, Layout{0, 0, 1}}) {
    for (const char* const spec : {"mpc", "szp:abs=1e-6"}) {
      for (const std::set<int>& noisy : {std::set<int>{1}, {0, 1, 2}}) {
        Case given = case_on(nodes, GetParam());
        given.spec = spec;
        given.count = 3000;
        given.capacity = 440;
        given.noisy = noisy;
        expect_case(given);
        given.in_place = true;
        given.capacity = 1;
        expect_case(given);
      }
    }
  }
}

TEST_P(OnNodes, WholeArraysAndRoundsAndFactors) {
  for (const Layout& nodes : {Layout{0, 0, 1, 1}, Layout{0, 0, 1}}) {
    Case given = case_on(nodes, GetParam());
    given.count = 5000;
    given.way = TW_STREAM_PLANNED;
    expect_case(given);
    given.spec = "szp:abs=1e-3";
    expect_case(given);
    const bool adds = GetParam() == TW_STREAM_ALLREDUCE || GetParam() == TW_STREAM_REDUCE ||
                      GetParam() == TW_STREAM_REDUCE_SCATTER;
    if (!adds) continue;
    given = case_on(nodes, GetParam());
    given.count = 5000;
    given.factors = Factors::kInMemory;
    expect_case(given);
    given.factors = Factors::kNone;
    for (int rank = 0; rank < given.ranks; ++rank) given.in_rounds.insert(rank);
    expect_case(given);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnNodes, ::testing::ValuesIn(kOperations));

// While there is no sum yet, encodes this rank's own values, a block for each peer.
TEST(NodesTrial, EncodesWhatGoesBetweenNodes) {
  World world(4);
  const Comm comm = make_comm(world, 1, true, {0, 0, 1, 1});
  const Codec codec("mpc");
  for (const std::uint32_t operation :
       {TW_STREAM_ALLGATHER, TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLTOALL}) {
    auto options = options_of(operation, TW_F32, 40'960, codec.handle.get());
    options.flags = TW_STREAM_TRIAL;
    const Plan plan = make_plan(comm, options);
    const Lent lent(plan);
    Stream stream;
    const Bytes values = values_of(TW_F32, 4 * 40'960, 1, Data::kSmooth);
    tw_stream_call call{};
    call.size = sizeof call;
    call.plan = plan.get();
    call.send = values.data();
    lent.lend(call);
    call.stream = &stream;
    ASSERT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
    stream.wait();
    const tw_stream_report report = check(plan, lent.record);
    EXPECT_EQ(report.encoded, operation == TW_STREAM_ALLTOALL ? 2U : 1U);
    EXPECT_GT(report.needed[0], 0U);
    EXPECT_LT(report.needed[0], 512U);
  }
}

TEST(NodesPlan, SaysWhatGoesAsItIs) {
  World world(4);
  const Comm comm = make_comm(world, 1, true, {0, 0, 1, 1});
  const Codec codec("mpc");
  const std::uint64_t block = 4096 * 4;
  const auto gather =
      describe(make_plan(comm, options_of(TW_STREAM_ALLGATHER, TW_F32, 4096, codec.handle.get())));
  EXPECT_EQ(gather.raw_bytes, block);
  EXPECT_EQ(gather.plain_bytes, 2 * block);
  EXPECT_GT(gather.slot_bytes[0], 0U);
  EXPECT_EQ(gather.slot_bytes[1], 0U);
  const auto sum = describe(
      make_plan(comm, options_of(TW_STREAM_ALLREDUCE, TW_F32, 8 * 4096, codec.handle.get())));
  EXPECT_EQ(sum.raw_bytes, 2 * 2 * block);
  EXPECT_EQ(sum.plain_bytes, 2 * 4 * block);
  EXPECT_GT(sum.slot_bytes[1], 0U);
}

}  // namespace
}  // namespace thinwire::slots
