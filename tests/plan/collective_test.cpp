// The plan of collectives: reasons, choices, and a cost model that never loses by its own count.
#include "plan/collective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "plan/work.h"

namespace thinwire::plan {
namespace {

using enum Operation;
using enum Algorithm;

constexpr Way kWays[] = {
    {kBcast, kChain, Coding::kOnce},
    {kBcast, kBinomial, Coding::kOnce},
    {kBcast, kChain, Coding::kPerHop},
    {kBcast, kChain, Coding::kTwoLevel},
    {kAllgather, kRing, Coding::kOnce},
    {kAllgather, kBruck, Coding::kOnce},
    {kGather, kDirect, Coding::kOnce},
    {kGather, kBinomial, Coding::kOnce},
    {kGather, kBinomial, Coding::kTwoLevel},
    {kGather, kDirect, Coding::kTwoLevel},
    {kScatter, kDirect, Coding::kOnce},
    {kScatter, kBinomial, Coding::kOnce},
    {kScatter, kBinomial, Coding::kTwoLevel},
    {kScatter, kDirect, Coding::kTwoLevel},
    {kAlltoall, kPairwise, Coding::kOnce},
    {kAlltoall, kPairwise, Coding::kTwoLevel},
    {kReduce, kBinomial, Coding::kOnce},
    {kReduce, kDirect, Coding::kOnce},
    {kAllreduce, kRing, Coding::kOnce},
    {kAllreduce, kRing, Coding::kPerHop},
    {kAllreduce, kRing, Coding::kTwoLevel},
    {kAllreduce, kDirect, Coding::kOnce},
    {kAllreduce, kDirect, Coding::kTwoLevel},
    {kAllreduce, kRecursiveDoubling, Coding::kOnce},
    {kReduceScatter, kRing, Coding::kOnce},
    {kReduceScatter, kDirect, Coding::kOnce},
    {kReduce, kRankOrder, Coding::kOnce},
    {kAllreduce, kRankOrder, Coding::kOnce},
    {kReduceScatter, kRankOrder, Coding::kOnce},
    {kReduce, kExact, Coding::kOnce},
    {kAllreduce, kExact, Coding::kOnce},
    {kReduceScatter, kExact, Coding::kOnce},
};

constexpr std::uint64_t kMiB = 1 << 20;

codec::Spec spec(const char* text) { return *codec::parse_spec(text); }

CollectiveSettings settings() {
  return {.threshold = 65536, .link_bytes_per_second = 1.25e9, .cost = {50e9, 50e9, 8}};
}

CollectiveFacts facts(Operation operation, std::uint64_t bytes = 64 * kMiB) {
  return {.operation = operation,
          .dtype = Dtype::kF32,
          .bytes = bytes,
          .spread = {.ranks = 4, .nodes = 4},
          .ways = kWays};
}

Reason reason_of(const char* text, CollectiveFacts about, CollectiveSettings with = settings()) {
  return plan_collective(spec(text), with, about).reason;
}

// Raw too, and whatever is asked for; nothing else has an order to keep.
TEST(CollectivePlan, AddsInTheOrderOfTheRanksIfTheSpecSaysSo) {
  const auto planned = [](const char* text, CollectiveFacts about) {
    return plan_collective(spec(text), settings(), about);
  };
  constexpr const char* kOrdered = "lossless:reductions=ordered";
  for (const Operation operation : {kAllreduce, kReduce, kReduceScatter}) {
    for (const std::uint64_t bytes : {std::uint64_t{16}, kMiB, 64 * kMiB}) {
      CollectiveFacts about = facts(operation, bytes);
      EXPECT_EQ(planned(kOrdered, about).algorithm, kRankOrder);
      about.spread = {.ranks = 8, .nodes = 2};
      about.algorithm = kRing;
      about.coding = Coding::kTwoLevel;
      EXPECT_EQ(planned(kOrdered, about).algorithm, kRankOrder);
      EXPECT_EQ(planned(kOrdered, about).coding, Coding::kOnce);
      EXPECT_NE(planned("lossless:reductions=coded", facts(operation, bytes)).algorithm,
                kRankOrder);
    }
  }
  EXPECT_EQ(planned(kOrdered, facts(kAllreduce)).reason, Reason::kCompress);
  EXPECT_EQ(planned(kOrdered, facts(kAllreduce, 16)).reason, Reason::kBelowThreshold);
  EXPECT_NE(planned(kOrdered, facts(kBcast)).algorithm, kRankOrder);
}

// Sums alone are exact: other reductions keep the order of the ranks.
TEST(CollectivePlan, AddsExactlyIfTheSpecSaysSo) {
  const codec::Spec exact = spec("lossless:reductions=exact");
  for (const Operation operation : {kAllreduce, kReduce, kReduceScatter}) {
    for (const std::uint64_t bytes : {std::uint64_t{16}, kMiB, 64 * kMiB}) {
      CollectiveFacts about = facts(operation, bytes);
      about.algorithm = kRing;
      EXPECT_EQ(plan_collective(exact, settings(), about).algorithm, kExact);
      about.reduction = Reduction::kProduct;
      EXPECT_EQ(plan_collective(exact, settings(), about).algorithm, kRankOrder);
    }
  }
  CollectiveFacts about = facts(kAllreduce);
  EXPECT_EQ(plan_collective(exact, settings(), about).reason, Reason::kCompress);
  about.algorithm = kExact;
  EXPECT_EQ(plan_collective(spec("expack"), settings(), about).algorithm, kExact);
  EXPECT_NE(plan_collective(exact, settings(), facts(kBcast)).algorithm, kExact);
}

TEST(CollectivePlan, NamesEachReasonToGoRaw) {
  EXPECT_EQ(reason_of("zfp:rate=4", facts(kBcast)), Reason::kCompress);
  EXPECT_EQ(reason_of("off", facts(kBcast)), Reason::kOff);
  EXPECT_EQ(reason_of("auto", facts(kAllreduce)), Reason::kReductionOfAuto);
  EXPECT_EQ(reason_of("auto", facts(kReduceScatter)), Reason::kReductionOfAuto);
  EXPECT_EQ(reason_of("auto", facts(kBcast)), Reason::kCompress);
  EXPECT_EQ(reason_of("lossless", facts(kAllreduce)), Reason::kReductionOfAuto);
  EXPECT_EQ(reason_of("lossless:reductions=native", facts(kAllreduce)), Reason::kReductionOfAuto);
  EXPECT_EQ(reason_of("lossless:reductions=coded", facts(kAllreduce)), Reason::kCompress);
  EXPECT_EQ(reason_of("expack", facts(kAllreduce)), Reason::kCompress);
  EXPECT_EQ(reason_of("zfp:rate=4", facts(kBcast, 65535)), Reason::kBelowThreshold);
  EXPECT_EQ(reason_of("szp:allreduce-abs=1", facts(kBcast)), Reason::kReductionsAlone);
  EXPECT_EQ(reason_of("szp:allreduce-abs=1", facts(kAllreduce)), Reason::kCompress);
  EXPECT_EQ(reason_of("szp:abs=1,allreduce-abs=1", facts(kBcast)), Reason::kCompress);

  CollectiveFacts about = facts(kBcast);
  about.dtype = Dtype::kBf16;
  EXPECT_EQ(reason_of("szp:abs=1", about), Reason::kDtype);
  // 8-bit floats are moved and not added.
  about.dtype = Dtype::kE4m3;
  EXPECT_EQ(reason_of("expack", about), Reason::kCompress);
  EXPECT_EQ(reason_of("lossless", about), Reason::kCompress);
  about.operation = kAllreduce;
  EXPECT_EQ(reason_of("expack", about), Reason::kDtype);
  EXPECT_EQ(reason_of("lossless:reductions=coded", about), Reason::kDtype);
  about = facts(kBcast);
  about.spread.nodes = 1;
  EXPECT_EQ(reason_of("zfp:rate=4", about), Reason::kSameNode);
  CollectiveSettings with = settings();
  with.same_node = true;
  EXPECT_EQ(reason_of("zfp:rate=4", about, with), Reason::kCompress);
  about.spread.ranks = 1;
  EXPECT_EQ(reason_of("zfp:rate=4", about, with), Reason::kSameNode);
  with.link_bytes_per_second = 0;
  EXPECT_EQ(reason_of("auto", facts(kBcast), with), Reason::kNoLink);
  EXPECT_EQ(reason_of("lossless", facts(kBcast), with), Reason::kCompress);
  EXPECT_EQ(reason_of("zfp:rate=4", facts(kBcast), with), Reason::kCompress);
}

TEST(CollectivePlan, AProductHasNoBoundOfItsResult) {
  CollectiveFacts about = facts(kAllreduce);
  about.reduction = Reduction::kProduct;
  EXPECT_EQ(reason_of("szp:allreduce-abs=1", about), Reason::kOperation);
  EXPECT_EQ(reason_of("szp:abs=1", about), Reason::kCompress);
  about.reduction = Reduction::kMaximum;
  EXPECT_EQ(reason_of("szp:allreduce-abs=1", about), Reason::kCompress);
}

TEST(CollectivePlan, SumsOfFillValuesAreNative) {
  for (const Operation operation : {kAllreduce, kReduce, kReduceScatter}) {
    EXPECT_EQ(reason_of("szp:abs=1,fill=auto", facts(operation)), Reason::kOperation);
    EXPECT_EQ(reason_of("szp:abs=1", facts(operation)), Reason::kCompress);
  }
  for (const Operation operation : {kBcast, kAllgather, kAlltoall}) {
    EXPECT_EQ(reason_of("szp:abs=1,fill=auto", facts(operation)), Reason::kCompress);
  }
}

TEST(CollectivePlan, ChoosesByTheSizeOfTheArray) {
  const auto chosen = [](const char* text, Operation operation, std::uint64_t bytes) {
    CollectiveFacts about = facts(operation, bytes);
    about.spread = {.ranks = 16, .nodes = 16};
    return plan_collective(spec(text), settings(), about).algorithm;
  };
  EXPECT_EQ(chosen("zfp:rate=4", kBcast, 64 * kMiB), kChain);
  EXPECT_EQ(chosen("zfp:rate=4", kBcast, 65536), kBinomial);
  EXPECT_EQ(chosen("zfp:rate=4", kAllreduce, 64 * kMiB), kRing);
  EXPECT_EQ(chosen("zfp:rate=4", kAllreduce, 65536), kRecursiveDoubling);
  EXPECT_EQ(chosen("szp:allreduce-abs=1", kAllreduce, 64 * kMiB), kDirect);
  EXPECT_EQ(chosen("szp:allreduce-abs=1", kAllreduce, kMiB), kDirect);
  EXPECT_EQ(chosen("szp:allreduce-abs=1", kAllreduce, 65536), kRecursiveDoubling);
  EXPECT_EQ(chosen("zfp:rate=4", kAllgather, 65536), kBruck);
  EXPECT_EQ(chosen("zfp:rate=4", kReduce, 64 * kMiB), kDirect);
  EXPECT_EQ(chosen("zfp:rate=4", kReduce, 65536), kBinomial);
  EXPECT_EQ(chosen("off", kBcast, 65536), kBinomial);
}

// 64 KiB are four boxes of 4096 values: of 16 ranks four own a part, and each of them hears and
// tells all others.
TEST(CollectivePlan, CountsTheBoxesOfSmallArrays) {
  const Way direct{kAllreduce, kDirect, Coding::kOnce}, ring{kAllreduce, kRing, Coding::kOnce};
  const Work few = work_of(direct, {.ranks = 16, .nodes = 16, .parts = 4});
  EXPECT_DOUBLE_EQ(few.wire, 0.75 + 3.75);
  EXPECT_DOUBLE_EQ(few.decode, 1 + 3.75);
  EXPECT_DOUBLE_EQ(few.block, 0.25);
  EXPECT_DOUBLE_EQ(few.rounds, 3 + 15);
  EXPECT_DOUBLE_EQ(work_of(ring, {.ranks = 16, .nodes = 16, .parts = 4}).wire, 2 * 3.75);
  for (const Way& way : {direct, ring}) {
    const Work all = work_of(way, {.ranks = 16, .nodes = 16});
    const Work enough = work_of(way, {.ranks = 16, .nodes = 16, .parts = 16});
    EXPECT_DOUBLE_EQ(all.wire, 2 * 15.0 / 16);
    EXPECT_DOUBLE_EQ(all.encode, 1);
    EXPECT_DOUBLE_EQ(all.decode, 1 + 15.0 / 16);
    EXPECT_DOUBLE_EQ(all.rounds, 30);
    EXPECT_DOUBLE_EQ(enough.wire, all.wire);
    EXPECT_DOUBLE_EQ(enough.rounds, all.rounds);
  }
}

TEST(CollectivePlan, TwoLevelsWhereRanksShareNodes) {
  CollectiveFacts about = facts(kAllreduce);
  about.spread = {.ranks = 16, .nodes = 4};
  EXPECT_EQ(plan_collective(spec("zfp:rate=4"), settings(), about).coding, Coding::kTwoLevel);
  for (const Operation operation : {kGather, kScatter, kAlltoall}) {
    about.operation = operation;
    EXPECT_EQ(plan_collective(spec("zfp:rate=4"), settings(), about).coding, Coding::kTwoLevel);
    about.spread.nodes = 16;
    EXPECT_EQ(plan_collective(spec("zfp:rate=4"), settings(), about).coding, Coding::kOnce);
    about.spread.nodes = 4;
  }
  about.operation = kReduceScatter;  // has no such form among these
  EXPECT_EQ(plan_collective(spec("zfp:rate=4"), settings(), about).coding, Coding::kOnce);
  about.operation = kAllreduce;
  about.coding = Coding::kPerHop;
  EXPECT_EQ(plan_collective(spec("zfp:rate=4"), settings(), about).coding, Coding::kPerHop);
}

TEST(CollectivePlan, TakesWhatIsAskedFor) {
  CollectiveFacts about = facts(kAllreduce);
  about.algorithm = kRecursiveDoubling;
  EXPECT_EQ(plan_collective(spec("szp:allreduce-abs=1"), settings(), about).algorithm,
            kRecursiveDoubling);
  about.algorithm = kBruck;  // there is no such row
  const CollectivePlan none = plan_collective(spec("zfp:rate=4"), settings(), about);
  EXPECT_EQ(none.reason, Reason::kOperation);
  EXPECT_EQ(none.algorithm, kPlanned);
  CollectiveSettings with = settings();
  with.piece_bytes = 12345;
  EXPECT_EQ(plan_collective(spec("zfp:rate=4"), with, facts(kBcast)).piece_bytes, 12345u);
}

TEST(CollectivePlan, AnUnmeasuredCostNeverWins) {
  for (const double speed : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    CollectiveSettings with = settings();
    with.cost = {speed, speed, 4};
    EXPECT_EQ(reason_of("zfp:rate=8", facts(kBcast), with), Reason::kLinkFaster);
    with.cost = {1e9, 1e9, speed};
    EXPECT_EQ(reason_of("zfp:rate=8", facts(kBcast), with), Reason::kLinkFaster);
  }
}

// 64 MiB over 10 Gbit/s: the link alone takes 53.7 ms, an eighth of the bytes 6.7 ms.
TEST(CollectivePlan, PredictsABcastThatTheLinkBounds) {
  const CollectivePlan plan = plan_collective(spec("zfp:rate=4"), settings(), facts(kBcast));
  EXPECT_GT(plan.raw_seconds, 0.0537);
  EXPECT_LT(plan.raw_seconds, 0.0537 * 1.1);
  EXPECT_GT(plan.seconds, 0.0067);
  EXPECT_LT(plan.seconds, 0.0067 * 1.3);
}

// A slow codec is what a pipeline waits for.
TEST(CollectivePlan, PredictsABcastThatTheCodecBounds) {
  CollectiveSettings with = settings();
  with.cost = {4e9, 4e9, 8};
  const double codec_seconds = 2 * 64.0 * kMiB / 4e9;  // the root encodes and decodes
  const CollectivePlan plan = plan_collective(spec("zfp:rate=4"), with, facts(kBcast));
  EXPECT_GT(plan.seconds, codec_seconds);
  EXPECT_LT(plan.seconds, codec_seconds * 1.1);
  EXPECT_EQ(plan.reason, Reason::kCompress);
  with.cost = {2e9, 2e9, 8};
  EXPECT_EQ(reason_of("zfp:rate=4", facts(kBcast), with), Reason::kLinkFaster);
}

TEST(CollectivePlan, AutoAsksForARatioThatPays) {
  const CollectivePlan plan = plan_collective(spec("auto"), settings(), facts(kBcast));
  EXPECT_GT(plan.least_ratio, 1);
  EXPECT_LT(plan.least_ratio, 1.1);
  CollectiveSettings with = settings();
  with.cost = {3e9, 3e9, 8};
  EXPECT_EQ(reason_of("auto", facts(kBcast), with), Reason::kCompress);
  with.cost = {2e9, 2e9, 8};
  EXPECT_EQ(reason_of("auto", facts(kBcast), with), Reason::kLinkFaster);
}

struct Random {
  std::mt19937_64 bits{7};
  double between(double low, double high) {
    const double share = static_cast<double>(bits() >> 11) * 0x1p-53;
    return low * std::pow(high / low, share);
  }
};

// Whatever the numbers: what is compressed is predicted to win, pieces are sound, and a faster link
// never makes compression worth while.
TEST(CollectivePlan, NeverLosesByItsOwnCount) {
  Random random;
  int compressed = 0;
  for (int round = 0; round < 20000; ++round) {
    CollectiveSettings with{
        .threshold = 65536,
        .link_bytes_per_second = random.between(1e6, 1e11),
        .cost = {random.between(1e8, 1e12), random.between(1e8, 1e12), random.between(1, 100)}};
    CollectiveFacts about = facts(static_cast<Operation>(random.bits() % kOperationCount),
                                  static_cast<std::uint64_t>(random.between(65536, 1e10)));
    about.spread.ranks = 2 + static_cast<int>(random.bits() % 63);
    about.spread.nodes = 2 + static_cast<int>(random.bits() % (about.spread.ranks - 1));
    const CollectivePlan plan = plan_collective(spec("zfp:rate=8"), with, about);
    ASSERT_NE(plan.algorithm, kPlanned);
    EXPECT_GE(plan.piece_bytes, 64 * 1024u);
    EXPECT_LE(plan.piece_bytes, kMiB);
    EXPECT_GE(plan.window, 4u);
    compressed += plan.reason == Reason::kCompress;
    EXPECT_EQ(plan.reason == Reason::kCompress, plan.seconds < plan.raw_seconds);
    if (plan.reason == Reason::kCompress) {
      EXPECT_LE(plan.least_ratio, with.cost.ratio * (1 + 1e-9));
      continue;
    }
    // Pieces and, for small arrays, algorithms differ with the link: a draw may turn.
    if (plan.seconds < 1.1 * plan.raw_seconds || about.bytes < 64 * kMiB) continue;
    with.link_bytes_per_second *= 4;
    EXPECT_NE(reason_of("zfp:rate=8", about, with), Reason::kCompress);
  }
  EXPECT_GT(compressed, 1000);
  EXPECT_LT(compressed, 19000);
}

TEST(CollectivePlan, TakesLongerForMoreBytes) {
  for (int operation = 0; operation < kOperationCount; ++operation) {
    double raw = 0, coded = 0;
    for (std::uint64_t bytes = 65536; bytes < 1u << 30; bytes += bytes / 3) {
      const auto plan = plan_collective(spec("zfp:rate=4"), settings(),
                                        facts(static_cast<Operation>(operation), bytes));
      EXPECT_GT(plan.raw_seconds, raw) << operation << " " << bytes;
      EXPECT_GT(plan.seconds, coded) << operation << " " << bytes;
      raw = plan.raw_seconds;
      coded = plan.seconds;
    }
  }
}

}  // namespace
}  // namespace thinwire::plan
