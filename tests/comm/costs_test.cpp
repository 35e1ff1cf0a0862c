// Costs of a codec, learned when all ranks may wait and used by plans that wait for nobody.

#include "ranks.h"

namespace thinwire::comm {
namespace {

constexpr double kSlow = 1e5, kFast = 1e15;  // bytes a second

Options options_of(double link) {
  Options options;
  options.spec = spec_of("mpc");
  options.link_bytes_per_second = link;
  return options;
}

Call call_of(const Communicator& comm, Dtype dtype, std::vector<std::byte>& values) {
  Call call;
  call.dtype = dtype;
  call.count = values.size() / dtype_size(dtype);
  call.receive = values.data();
  call.spec = comm.options().spec;
  return call;
}

plan::Reason reason_of(const Communicator& comm, const Call& call) {
  const auto choice = comm.choose(call);
  EXPECT_TRUE(choice.ok()) << choice.status().message();
  return choice.ok() ? choice->reason : plan::Reason::kOff;
}

TEST(Costs, ArePlannedWithWhenTheyAreLearned) {
  for (const int size : {2, 3, 4}) {
    for (const double link : {kSlow, kFast}) {
      run_ranks(size, options_of(link), [&](Communicator& comm) {
        std::vector<std::byte> values(1 << 16);
        const Call narrow = call_of(comm, Dtype::kF32, values);
        const Call wide = call_of(comm, Dtype::kF64, values);
        const auto pays = link == kSlow ? plan::Reason::kCompress : plan::Reason::kLinkFaster;
        EXPECT_EQ(reason_of(comm, narrow), plan::Reason::kCostUnknown);
        comm.want_cost(wide);
        comm.want_cost(narrow);
        comm.want_cost(wide);
        EXPECT_EQ(reason_of(comm, wide), plan::Reason::kCostUnknown);
        ASSERT_TRUE(comm.learn_costs().ok());
        EXPECT_EQ(reason_of(comm, narrow), pays);
        EXPECT_EQ(reason_of(comm, wide), pays);
      });
    }
  }
}

// A rank's message to itself says nothing of the others, who learn costs with it.
TEST(Costs, OfCallsWithListsAreLearned) {
  run_ranks(3, options_of(kSlow), [](Communicator& comm) {
    std::vector<std::uint64_t> counts(3, 10'000), places(3);
    counts[static_cast<std::size_t>(comm.rank())] = 0;
    Call call;
    call.operation = plan::Operation::kAlltoall;
    call.dtype = Dtype::kF32;
    call.spec = comm.options().spec;
    call.send_counts = call.receive_counts = counts.data();
    call.send_displacements = call.receive_displacements = places.data();
    comm.want_cost(call);
    ASSERT_TRUE(comm.learn_costs().ok());
    EXPECT_EQ(reason_of(comm, call), plan::Reason::kCompress);
  });
}

// Ranks come to different numbers, and each keeps those of all.
TEST(Costs, AreTheSameOnAllRanks) {
  std::vector<double> seconds(4);
  run_ranks(4, options_of(kSlow), [&](Communicator& comm) {
    std::vector<std::byte> values(1 << 16);
    const Call call = call_of(comm, Dtype::kF32, values);
    comm.want_cost(call);
    ASSERT_TRUE(comm.learn_costs().ok());
    const auto choice = comm.choose(call);
    ASSERT_TRUE(choice.ok());
    seconds[static_cast<std::size_t>(comm.rank())] = choice->seconds;
  });
  for (const double each : seconds) EXPECT_EQ(each, seconds[0]);
  EXPECT_GT(seconds[0], 0);
}

TEST(Costs, AreNotLearnedByARunAsAgreed) {
  run_ranks(3, options_of(kSlow), [](Communicator& comm) {
    std::vector<std::byte> values(1 << 16);
    Call call = call_of(comm, Dtype::kF32, values);
    Report report;
    call.as_agreed = true;
    ASSERT_TRUE(comm.run(call, report).ok());
    EXPECT_EQ(report.choice.reason, plan::Reason::kCostUnknown);
    EXPECT_EQ(reason_of(comm, call), plan::Reason::kCostUnknown);
    ASSERT_TRUE(comm.learn_costs().ok());  // nobody wanted any
    EXPECT_EQ(reason_of(comm, call), plan::Reason::kCostUnknown);
    call.as_agreed = false;
    ASSERT_TRUE(comm.run(call, report).ok());
    EXPECT_EQ(report.choice.reason, plan::Reason::kCompress);
    call.as_agreed = true;
    ASSERT_TRUE(comm.run(call, report).ok());
    EXPECT_EQ(report.choice.reason, plan::Reason::kCompress);
  });
}

TEST(Costs, AreNotWantedWhereNoneIsNeeded) {
  const auto expect = [](Options options, plan::Reason reason) {
    run_ranks(2, options, [&](Communicator& comm) {
      std::vector<std::byte> values(1 << 16);
      EXPECT_EQ(reason_of(comm, call_of(comm, Dtype::kF32, values)), reason);
    });
  };
  expect(options_of(0), plan::Reason::kCompress);
  Options options = options_of(kSlow);
  options.threshold = 1 << 20;
  expect(options, plan::Reason::kBelowThreshold);
  options = options_of(kSlow);
  options.nodes = {0, 0};
  expect(options, plan::Reason::kSameNode);
}

TEST(Costs, OfACommunicatorHoldOnAnotherOfTheSameRanks) {
  constexpr int kSize = 3;
  auto ends = transport::make_local(kSize);
  run_ranks(kSize, options_of(kSlow), [&](Communicator& second) {
    const auto rank = static_cast<std::size_t>(second.rank());
    auto made = Communicator::create(std::move(ends[rank]), options_of(kSlow));
    ASSERT_TRUE(made.ok());
    std::vector<std::byte> values(1 << 16);
    const Call call = call_of(second, Dtype::kF32, values);
    (*made)->want_cost(call);
    second.take_costs_of(**made);
    EXPECT_EQ(reason_of(second, call), plan::Reason::kCostUnknown);
    ASSERT_TRUE((*made)->learn_costs().ok());
    second.take_costs_of(**made);
    const auto first_choice = (*made)->choose(call);
    const auto second_choice = second.choose(call);
    ASSERT_TRUE(first_choice.ok() && second_choice.ok());
    EXPECT_EQ(second_choice->reason, plan::Reason::kCompress);
    EXPECT_EQ(second_choice->seconds, first_choice->seconds);
  });
}

}  // namespace
}  // namespace thinwire::comm
