// Every operation, dtype and codec, against what it must come to bit by bit.
#include <gtest/gtest.h>

#include "calls.h"

namespace thinwire::slots {
namespace {

const char* const kSpecs[] = {"mpc", "expack", "lorenzo", "szp:abs=1e-3", "zfp:rate=12", "auto"};
constexpr std::uint32_t kDtypes[] = {TW_F32, TW_F64, TW_F16, TW_BF16};
constexpr std::uint32_t kOperations[] = {
    TW_STREAM_ALLGATHER,      TW_STREAM_BCAST,     TW_STREAM_SEND,
    TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE, TW_STREAM_ALLTOALL,
    TW_STREAM_GATHER_AT_ROOT, TW_STREAM_SCATTER,   TW_STREAM_REDUCE};

std::uint32_t spilled(const std::vector<tw_stream_report>& reports) {
  std::uint32_t blocks = 0;
  for (const tw_stream_report& report : reports) blocks += report.spilled_out;
  return blocks;
}

class Operations : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Operations, EveryCodecAndDtypeGiveTheExactResult) {
  for (const char* const spec : kSpecs) {
    for (const std::uint32_t dtype : kDtypes) {
      Case given{.operation = GetParam(), .dtype = dtype, .spec = spec, .ranks = 3};
      given.count = 5000;
      given.scale = 1.0 / 3;
      if (!Codec(spec).takes(dtype)) continue;
      for (const bool in_place : {false, true}) {
        given.in_place = in_place;
        expect_case(given);
      }
    }
  }
}

TEST_P(Operations, AnyNumberOfRanksAndElementsAndAnyAlignment) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    if (ranks == 1 && GetParam() == TW_STREAM_SEND) continue;
    for (const std::uint64_t count : {0, 1, 3, 129, 4097}) {
      Case given{.operation = GetParam(), .spec = "mpc", .ranks = ranks, .count = count};
      given.root = ranks - 1;
      given.offset = count % 4;
      given.collectives = ranks % 2 == 0;
      for (const bool in_place : {false, true}) {
        given.in_place = in_place;
        expect_case(given);
      }
    }
  }
}

TEST_P(Operations, WhatDoesNotFitComesWholeWhoeverItIsOf) {
  for (const char* const spec : {"mpc", "szp:abs=1e-6"}) {
    for (const std::set<int>& noisy : {std::set<int>{0}, {1}, {0, 3}, {0, 1, 2, 3}}) {
      Case given{.operation = GetParam(), .dtype = TW_F32, .spec = spec, .ranks = 4};
      given.count = 9000;
      given.capacity = 440;
      given.noisy = noisy;
      given.root = *noisy.begin();
      for (const bool in_place : {false, true}) {
        given.in_place = in_place;
        const auto reports = expect_case(given);
        // The first rank alone sends a message, all but the root what is gathered or added there.
        const bool to_root =
            GetParam() == TW_STREAM_GATHER_AT_ROOT || GetParam() == TW_STREAM_REDUCE;
        const bool sends_noise = GetParam() == TW_STREAM_SEND ? noisy.contains(0)
                                 : to_root                    ? noisy.size() > 1
                                                              : true;
        EXPECT_EQ(spilled(reports) > 0, sends_noise);
      }
      given.capacity = 1;
      EXPECT_GT(spilled(expect_case(given)), 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Operations, ::testing::ValuesIn(kOperations));

class WholeArrays : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(WholeArrays, AreSummedInBothWaysByAnyRanks) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    for (const std::uint32_t way : {TW_STREAM_GATHER, TW_STREAM_DIRECT}) {
      for (const char* const spec : {"mpc", "szp:abs=1e-3"}) {
        Case given{.operation = GetParam(), .spec = spec, .ranks = ranks, .way = way};
        given.root = ranks / 2;
        for (const std::uint64_t count : {1, 1500, 20001}) {
          given.count = count;
          given.noisy = {ranks - 1};
          expect_case(given);
          given.in_place = true;
          given.noisy = {};
          expect_case(given);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, WholeArrays,
                         ::testing::Values(TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE));

// Results of a Reduce, which others would encode.
TEST(Trials, OfAResultAreTheRootsAlone) {
  World world(3);
  const Comm comm = make_comm(world, 1);
  const Codec codec("mpc");
  auto options = options_of(TW_STREAM_REDUCE, TW_F32, 60'000, codec.handle.get());
  options.flags = TW_STREAM_TRIAL_RESULT;
  options.peer = 0;
  tw_stream_plan* none = nullptr;
  EXPECT_EQ(tw_stream_plan_create(comm.get(), &options, &none), TW_INVALID_ARGUMENT);
  options.peer = 1;
  const Plan plan = make_plan(comm, options);
  const Lent lent(plan);
  Stream stream;
  const Bytes result = values_of(TW_F32, 60'000, 1, Data::kSmooth);
  tw_stream_call call{};
  call.size = sizeof call;
  call.plan = plan.get();
  Bytes receive = result;
  call.receive = receive.data();
  lent.lend(call);
  call.stream = &stream;
  ASSERT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
  stream.wait();
  const tw_stream_report report = check(plan, lent.record);
  EXPECT_EQ(report.encoded, 2U);
  EXPECT_GT(report.needed[1], 0U);
  EXPECT_LT(report.needed[1], 512U);
  EXPECT_EQ(receive, result);
}

TEST(Allreduce, LargeOnesExchangeTwiceAndSixteenBitsAreRoundedOnce) {
  for (const std::uint32_t dtype : {TW_F16, TW_BF16}) {
    Case given{.operation = TW_STREAM_ALLREDUCE, .dtype = dtype, .spec = "expack", .ranks = 4};
    given.count = 40000;
    const auto reports = expect_case(given);
    for (const tw_stream_report& report : reports) {
      EXPECT_EQ(report.encoded, 4U);
      EXPECT_GT(report.needed[1], 0U);
    }
  }
}

TEST(Rounds, LeaveTheSameWhoeverMakesThem) {
  for (const std::uint32_t operation : {TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE,
                                        TW_STREAM_REDUCE, TW_STREAM_ALLTOALL, TW_STREAM_SCATTER}) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      std::set<int> all;
      for (int rank = 0; rank < ranks; ++rank) all.insert(rank);
      for (const std::set<int>& in_rounds : {all, {0}, {1, 3}}) {
        Case given{.operation = operation, .spec = "mpc", .ranks = ranks, .in_rounds = in_rounds};
        const bool whole = operation == TW_STREAM_ALLREDUCE || operation == TW_STREAM_REDUCE;
        if (whole) given.way = TW_STREAM_DIRECT;
        given.root = ranks / 2;
        // Some ranks have no block of the shortest sums.
        for (const std::uint64_t count : {0, 1, 2000, 20'001}) {
          given.count = count;
          given.noisy = {ranks - 1};
          expect_case(given);
        }
      }
    }
  }
}

// Each rank has its own, as numbers and where the stream reads them, also of what is spilled.
TEST(Factors, MultiplyBeforeTheSum) {
  for (const std::uint32_t operation :
       {TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE, TW_STREAM_REDUCE}) {
    for (const Factors factors : {Factors::kNumbers, Factors::kInMemory}) {
      for (const std::uint32_t dtype : kDtypes) {
        for (const char* const spec : {"lorenzo", "szp:abs=1e-3"}) {
          if (!Codec(spec).takes(dtype)) continue;
          Case given{.operation = operation, .dtype = dtype, .spec = spec, .factors = factors};
          const bool any_way = operation != TW_STREAM_REDUCE_SCATTER;
          for (const std::uint32_t way : {TW_STREAM_GATHER, TW_STREAM_DIRECT}) {
            if (any_way) given.way = way;
            for (given.ranks = 1; given.ranks <= 5; ++given.ranks) {
              given.count = 3001;
              given.noisy = {};
              given.scale = 0;
              expect_case(given);
              given.in_place = !given.in_place;
              given.noisy = {given.ranks - 1};
              given.scale = 0.25;
              expect_case(given);
            }
          }
        }
      }
    }
  }
}

TEST(Factors, AreOfSumsAlone) {
  World world(1);
  const Comm comm = make_comm(world, 0);
  const Codec codec("mpc");
  auto options = options_of(TW_STREAM_ALLGATHER, TW_F32, 100, codec.handle.get());
  options.flags = TW_STREAM_PREMULTIPLIED;
  tw_stream_plan* plan = nullptr;
  EXPECT_EQ(tw_stream_plan_create(comm.get(), &options, &plan), TW_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tw_last_error()).find("factors"), std::string::npos);
}

TEST(Reports, SaySizesAlsoOfWhatDidNotFit) {
  Case given{.operation = TW_STREAM_ALLGATHER, .spec = "mpc", .ranks = 3, .count = 50000};
  const auto fitting = expect_case(given);
  given.capacity = 1;
  const auto spilled = expect_case(given);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(fitting[rank].encoded, 1U);
    EXPECT_EQ(fitting[rank].spilled_out, 0U);
    EXPECT_EQ(fitting[rank].spilled_in, 0U);
    EXPECT_EQ(spilled[rank].spilled_out, 1U);
    EXPECT_EQ(spilled[rank].spilled_in, 2U);
    EXPECT_EQ(spilled[rank].declined, 0U);
    EXPECT_EQ(spilled[rank].raw_bytes, 200000U);
    EXPECT_EQ(spilled[rank].frame_bytes, fitting[rank].frame_bytes);
    EXPECT_EQ(spilled[rank].needed[0], fitting[rank].needed[0]);
    EXPECT_LT(fitting[rank].needed[0], 512U);
  }
  // The capacity that was said to be enough is enough, and nothing much less.
  given.capacity = fitting[0].needed[0];
  for (const auto& each : fitting) given.capacity = std::max(given.capacity, each.needed[0]);
  for (const auto& report : expect_case(given)) EXPECT_EQ(report.spilled_out, 0U);
}

TEST(Reports, OfNoiseNoCapacityWouldDo) {
  const Case given{.spec = "mpc", .ranks = 2, .count = 3000, .noisy = {1}};
  const auto reports = expect_case(given);
  EXPECT_EQ(reports[0].spilled_in, 1U);
  EXPECT_EQ(reports[0].needed[0] <= 512, true);
  EXPECT_EQ(reports[1].needed[0], 513U);
  EXPECT_EQ(reports[1].declined, 1U);
  EXPECT_EQ(reports[1].frame_bytes, reports[1].raw_bytes);
}

TEST(AsItIs, NoLossyCodecChangesAnyBit) {
  for (const char* const spec : {"szp:abs=1e-3", "zfp:rate=12", "blockq:bits=8", "mpc"}) {
    for (const std::uint32_t capacity : {256U, 512U}) {
      const auto reports = expect_case({.operation = TW_STREAM_SEND,
                                        .spec = spec,
                                        .count = 5000,
                                        .capacity = capacity,
                                        .as_is = true});
      EXPECT_EQ(reports[0].spilled_out, 1U);
      EXPECT_EQ(reports[0].needed[0], 513U) << "no capacity would do";
      EXPECT_EQ(reports[1].spilled_in, 1U);
    }
  }
}

TEST(AsItIs, AreMessagesThatAreSentAlone) {
  World world(2);
  const Comm comm = make_comm(world, 0);
  const Codec codec("mpc");
  for (const std::uint32_t operation : {TW_STREAM_RECEIVE, TW_STREAM_ALLGATHER, TW_STREAM_SEND}) {
    auto options = options_of(operation, TW_F32, 1000, codec.handle.get());
    options.peer = operation == TW_STREAM_ALLGATHER ? 0 : 1;
    options.capacity[0] = 512;
    options.flags = TW_STREAM_AS_IS;
    if (operation == TW_STREAM_SEND) options.flags |= TW_STREAM_TRIAL;
    tw_stream_plan* plan = nullptr;
    EXPECT_EQ(tw_stream_plan_create(comm.get(), &options, &plan), TW_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace thinwire::slots
