// Sums in the order of the ranks: the same on any nodes, in slots or raw, and those of a plain
// loop.
#include <gtest/gtest.h>

#include "layouts.h"

namespace thinwire::slots {
namespace {

class InOrder : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static Case ordered_on(const Layout& nodes, bool is_exact = false) {
    Case given = case_on(nodes, GetParam());
    given.spec = is_exact ? "lossless:reductions=exact" : "lossless:reductions=ordered";
    given.root = given.ranks - 1;
    return given;
  }
};

// As another loop than the expected results of case_on() have it.
Bytes loop_over_ranks(const Case& given, int rank) {
  const std::vector<Bytes> sent = arrays_of(given);
  const Bytes whole = given.sum(sent);
  if (given.operation != TW_STREAM_REDUCE_SCATTER) return whole;
  const auto block = static_cast<std::ptrdiff_t>(given.count * value_bytes(given.dtype));
  const auto first = whole.begin() + block * rank;
  return {first, first + block};
}

TEST_P(InOrder, NodesAndSlotsChangeNothing) {
  for (const Layout& nodes :
       {Layout{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3}, {0, 1, 0, 1}, {0, 0, 0, 1}}) {
    for (const std::uint32_t dtype : {TW_F32, TW_F64, TW_F16, TW_BF16}) {
      for (const std::uint32_t capacity : {512U, 400U, 511U, 399U}) {
        Case given = ordered_on(nodes, capacity % 2 != 0);
        given.dtype = dtype;
        given.capacity = capacity == 511 ? 512 : capacity;
        // A mean of exact sums, too: of four.
        given.scale = given.is_exact() && dtype != TW_F16 ? 1.0 / 4 : 1.0 / 3;
        given.count = 9000;
        given.noisy = {1};
        EXPECT_EQ(expected_of(given, arrays_of(given), given.root),
                  loop_over_ranks(given, given.root));
        for (const bool in_place : {false, true}) {
          given.in_place = in_place;
          expect_case(given);
        }
      }
    }
  }
}

TEST_P(InOrder, AnyCountsRanksAndWays) {
  std::mt19937 random(GetParam());
  for (int round = 0; round < 60; ++round) {
    const Layout nodes = random_layout(random);
    if (nodes.size() < 2) continue;
    Case given = ordered_on(nodes, random() % 2 == 0);
    if (random() % 3 == 0) given.scale = 1.0 / static_cast<double>(nodes.size());
    given.way = random() % 2 == 0 ? TW_STREAM_DIRECT : TW_STREAM_GATHER;
    given.root = static_cast<int>(random() % nodes.size());
    given.dtype = random() % 2 == 0 ? TW_F32 : TW_BF16;
    given.count = 1 + random() % (3 * 1024 * nodes.size());
    // Blocks that are all as long are gathered where the result goes.
    if (random() % 3 == 0) given.count = 1024 * nodes.size() * (1 + random() % 3);
    given.capacity = random() % 3 == 0 ? 440 : 512;
    given.in_place = random() % 2 == 0;
    given.seed = round;
    if (random() % 3 == 0) given.factors = Factors::kNumbers;
    if (random() % 3 == 0) given.factors = Factors::kInMemory;
    if (random() % 4 == 0) given.in_rounds = {0, 1};
    expect_case(given);
  }
}

// Nothing is encoded, and nothing goes in slots, whose headers would be all that they add.
TEST_P(InOrder, WholeSlotsAreRaw) {
  for (const std::uint32_t way : {TW_STREAM_DIRECT, TW_STREAM_GATHER}) {
    Case given = ordered_on({0, 0, 1, 1});
    given.way = way;
    given.count = 20'000;
    for (const tw_stream_report& report : expect_case(given)) EXPECT_EQ(report.encoded, 0U);
    given.capacity = 500;
    std::uint32_t encoded = 0;
    for (const tw_stream_report& report : expect_case(given)) encoded += report.encoded;
    EXPECT_GT(encoded, 0U);
  }
}

TEST_P(InOrder, InTwoLevelsIsNone) {
  World world(4);
  const Comm comm = make_comm(world, 0, true, {0, 0, 1, 1});
  for (const std::uint32_t capacity : {512U, 256U}) {
    const Codec ordered("lossless:reductions=ordered"), coded("lossless");
    auto options = options_of(GetParam(), TW_F32, 100'000, ordered.handle.get());
    options.capacity[0] = capacity;
    const tw_stream_plan_info info = describe(make_plan(comm, options));
    EXPECT_EQ(info.in_levels, 0U);
    EXPECT_EQ(info.raw_bytes == 0, capacity == 512);
    options.codec = coded.handle.get();
    EXPECT_EQ(describe(make_plan(comm, options)).in_levels, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, InOrder,
                         ::testing::Values(TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE,
                                           TW_STREAM_REDUCE));

}  // namespace
}  // namespace thinwire::slots
