// Many calls at once: the host far ahead, several streams and communicators, groups.
#include <gtest/gtest.h>

#include "member.h"

namespace thinwire::slots {
namespace {

constexpr std::uint64_t kCount = 1500;
constexpr std::uint64_t kBytes = kCount * sizeof(float);

// Call `number` of a rank: every fifth one does not get smaller, on one rank or the other.
Bytes data_of(int rank, std::uint64_t number) {
  const bool noisy = number % 5 == static_cast<std::uint64_t>(rank);
  return values_of(TW_F32, kCount, static_cast<int>(number) * 8 + rank,
                   noisy ? Data::kNoise : Data::kSmooth);
}

Bytes sum_of_all(int ranks, std::uint64_t number) {
  std::vector<Bytes> arrays;
  for (int rank = 0; rank < ranks; ++rank) arrays.push_back(data_of(rank, number));
  return sum_of(TW_F32, arrays, 0);
}

TEST(Streams, AThousandCallsAheadOfTheStreamWithOneMailbox) {
  constexpr int kRanks = 3;
  constexpr std::uint64_t kCalls = 1000;
  World world(kRanks);
  Carrier carrier;
  on_ranks(kRanks, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const Plan plan =
        member.plan(TW_STREAM_ALLREDUCE, kCount, [](auto& options) { options.capacity[0] = 440; });
    const Lent shared(plan);
    const std::uint64_t record_bytes = (describe(plan).record_bytes + 63) / 64 * 64;
    const Memory records(kCalls * record_bytes);
    std::vector<Bytes> arrays;
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      arrays.push_back(data_of(rank, number));
    }
    member.stream.hold();
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      std::byte* const array = arrays[number].data();
      tw_stream_call call = member.call(plan, shared, number, array, array);
      call.record = records.get() + number * record_bytes;
      member.enqueue(call);
    }
    const std::byte* const last = records.get() + (kCalls - 1) * record_bytes;
    EXPECT_EQ(check(plan, last).complete, 0U);
    member.stream.release();
    member.stream.wait();
    std::uint32_t spilled_in = 0;
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      const auto report = check(plan, records.get() + number * record_bytes);
      EXPECT_EQ(report.complete, 1U);
      spilled_in += report.spilled_in;
      EXPECT_TRUE(same(arrays[number].data(), sum_of_all(kRanks, number))) << number;
    }
    EXPECT_EQ(spilled_in, 2 * kCalls / 5);
    carrier.stop_serving(member.mailbox.memory);
  });
}

// Calls have several plans; the first one makes zeros of what is there.
TEST(Streams, CallsShareAWorkspaceThatIsClearedOnce) {
  constexpr int kRanks = 3;
  World world(kRanks);
  Carrier carrier;
  on_ranks(kRanks, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    std::vector<Plan> plans;
    for (const std::uint64_t count : {70'000, 5, 3000}) {
      plans.push_back(member.plan(TW_STREAM_ALLREDUCE, count, [](auto& options) {
        options.capacity[0] = 300;
        options.way = TW_STREAM_DIRECT;
      }));
    }
    const Lent first(plans.front());
    EXPECT_GT(first.workspace_bytes, 0U);
    std::memset(first.workspace, 0xA5, first.workspace_bytes);
    for (std::uint64_t number = 0; number < 12; ++number) {
      const Plan& plan = plans[number % plans.size()];
      const std::uint64_t count = std::array{70'000, 5, 3000}[number % plans.size()];
      std::vector<Bytes> arrays;
      for (int each = 0; each < kRanks; ++each) {
        const Data data = number % 2 == 0 ? Data::kNoise : Data::kSmooth;
        arrays.push_back(values_of(TW_F32, count, each + static_cast<int>(number), data));
      }
      const Bytes expected = sum_of(TW_F32, arrays, 0);
      const Lent own(plan);
      std::byte* const array = arrays[static_cast<std::size_t>(rank)].data();
      tw_stream_call call = member.call(plan, own, number, array, array);
      call.workspace = first.workspace;
      call.clears_workspace = number == 0 ? 1 : 0;
      member.enqueue(call);
      member.stream.wait();
      EXPECT_EQ(check(plan, own.record).complete, 1U);
      EXPECT_TRUE(same(array, expected)) << number;
      first.expect_zeros();
    }
    carrier.stop_serving(member.mailbox.memory);
  });
}

// The first has fewer blocks. The second has one that is its own and in place, which nothing is
// done with under a lossy codec.
TEST(Streams, ACallThatClearsDoesSoForALargerOne) {
  constexpr int kRanks = 4;
  World world(kRanks);
  Carrier carrier;
  on_ranks(kRanks, [&](int rank) {
    Member member(world, rank, "zfp:rate=16");
    carrier.serve(rank, member.mailbox.memory);
    const Plan small = member.plan(TW_STREAM_BCAST, kCount);
    const Plan large = member.plan(TW_STREAM_ALLGATHER, kCount);
    const Lent of_small(small), of_large(large);
    ASSERT_GT(of_small.workspace_bytes, 0);
    ASSERT_EQ(of_small.workspace_bytes, of_large.workspace_bytes);
    std::memset(of_small.workspace, 0xA5, of_small.workspace_bytes);
    Bytes array = data_of(rank, 0);
    tw_stream_call call = member.call(small, of_small, 0, array.data(), array.data());
    call.clears_workspace = 1;
    member.enqueue(call);
    Bytes all(kRanks * array.size());
    std::byte* const own = all.data() + static_cast<std::size_t>(rank) * array.size();
    const Bytes values = data_of(rank, 1);
    std::memcpy(own, values.data(), values.size());
    call = member.call(large, of_large, 1, own, all.data());
    call.workspace = of_small.workspace;
    member.enqueue(call);
    member.stream.wait();
    EXPECT_EQ(check(large, of_large.record).complete, 1U);
    carrier.stop_serving(member.mailbox.memory);
  });
}

// One stream's waiting must not hold the other's: ranks enqueue in opposite order.
TEST(Streams, TwoCommunicatorsOnTwoStreamsSpillAtOnce) {
  constexpr std::uint64_t kCalls = 50;
  World first(2), second(2);
  Carrier carriers[2];
  on_ranks(2, [&](int rank) {
    Member one(first, rank), other(second, rank);
    Member* const members[] = {&one, &other};
    for (int each : {0, 1}) carriers[each].serve(rank, members[each]->mailbox.memory);
    std::vector<Plan> plans;
    std::vector<Bytes> arrays;
    std::vector<Lent> lent;
    for (Member* const member : members) {
      plans.push_back(member->plan(TW_STREAM_ALLREDUCE, kCount,
                                   [](auto& options) { options.capacity[0] = 1; }));
    }
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      for (int turn : {0, 1}) {
        const int each = rank == 0 ? turn : 1 - turn;
        arrays.push_back(data_of(rank, number));
        lent.emplace_back(plans[static_cast<std::size_t>(each)]);
        std::byte* const array = arrays.back().data();
        members[each]->enqueue(members[each]->call(plans[static_cast<std::size_t>(each)],
                                                   lent.back(), number, array, array));
      }
    }
    for (Member* const member : members) member->stream.wait();
    for (std::size_t at = 0; at < arrays.size(); ++at) {
      EXPECT_TRUE(same(arrays[at].data(), sum_of_all(2, at / 2))) << at;
      const int each = rank == 0 ? static_cast<int>(at % 2) : 1 - static_cast<int>(at % 2);
      EXPECT_EQ(check(plans[static_cast<std::size_t>(each)], lent[at].record).spilled_in, 1U);
    }
    for (int each : {0, 1}) carriers[each].stop_serving(members[each]->mailbox.memory);
  });
}

TEST(Streams, TwoStreamsOfOneCommunicator) {
  constexpr std::uint64_t kCalls = 40;
  World world(3);
  Carrier carrier;
  on_ranks(3, [&](int rank) {
    Member member(world, rank);
    Stream side;
    Mailbox of_side(16 * 1024);
    for (void* const mailbox : {member.mailbox.memory.get(), of_side.memory.get()}) {
      carrier.serve(rank, mailbox);
    }
    const Plan plan =
        member.plan(TW_STREAM_ALLGATHER, kCount, [](auto& options) { options.capacity[0] = 440; });
    std::vector<Lent> lent;
    std::vector<Bytes> sent, received;
    for (auto* const arrays : {&sent, &received}) arrays->reserve(kCalls);
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      lent.emplace_back(plan);
      sent.push_back(data_of(rank, number));
      received.emplace_back(3 * kBytes);
      auto call =
          member.call(plan, lent.back(), number, sent.back().data(), received.back().data());
      if (number % 2 == 1) {
        call.stream = &side;
        call.mailbox = of_side.memory;
      }
      member.enqueue(call);
    }
    member.stream.wait();
    side.wait();
    for (std::uint64_t number = 0; number < kCalls; ++number) {
      for (int from = 0; from < 3; ++from) {
        const auto* const at = received[number].data() + static_cast<std::uint64_t>(from) * kBytes;
        EXPECT_TRUE(same(at, data_of(from, number))) << number << " from " << from;
      }
    }
    carrier.stop_serving(member.mailbox.memory);
    carrier.stop_serving(of_side.memory);
  });
}

// Without the group the first Send would wait for a Receive that is after another Send.
TEST(Groups, EveryRankSendsToTheNextAndReceivesAtOnce) {
  constexpr int kRanks = 3;
  World world(kRanks);
  Carrier carrier;
  on_ranks(kRanks, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const int next = (rank + 1) % kRanks, before = (rank + kRanks - 1) % kRanks;
    const auto narrow = [](int peer) {
      return [peer](auto& options) { options.peer = peer, options.capacity[0] = 440; };
    };
    const Plan send = member.plan(TW_STREAM_SEND, kCount, narrow(next));
    const Plan receive = member.plan(TW_STREAM_RECEIVE, kCount, narrow(before));
    const Lent of_send(send), of_receive(receive);
    for (std::uint64_t number = 0; number < 10; ++number) {
      const Bytes own = data_of(rank, number);
      Bytes came(kBytes);
      const tw_stream_call calls[] = {
          member.call(send, of_send, number, own.data(), nullptr),
          member.call(receive, of_receive, number, nullptr, came.data())};
      ASSERT_EQ(tw_stream_enqueue(calls, 2), TW_OK) << tw_last_error();
      member.stream.wait();
      EXPECT_EQ(check(send, of_send.record).encoded, 1U);
      EXPECT_EQ(check(receive, of_receive.record).encoded, 0U);
      EXPECT_TRUE(same(came.data(), data_of(before, number))) << number;
    }
    carrier.stop_serving(member.mailbox.memory);
  });
}

// Work between two times on a stream took at least as long as it did.
TEST(Times, AreThoseOfTheStream) {
  World world(1);
  Member member(world, 0);
  std::uint64_t times[3] = {};
  const auto mark = [&](int at) {
    EXPECT_EQ(tw_stream_time(member.comm.get(), -1, &times[at], &member.stream), TW_OK);
  };
  mark(0);
  member.stream.put([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  mark(1);
  mark(2);
  member.stream.wait();
  EXPECT_GT(times[0], 0);
  EXPECT_GE(times[1] - times[0], 20'000'000);
  EXPECT_LE(times[1], times[2]);
  EXPECT_EQ(tw_stream_time(member.comm.get(), -1, nullptr, &member.stream), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_time(nullptr, -1, times, &member.stream), TW_INVALID_ARGUMENT);
}

// By different threads, with a stage's end in between, as on communicators that do not block.
TEST(Stages, ComeToTheSameOneByOne) {
  constexpr int kRanks = 3;
  constexpr std::uint64_t kLarge = 20'000;  // sums in two exchanges
  World world(kRanks);
  Carrier carrier;
  on_ranks(kRanks, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const Plan sum =
        member.plan(TW_STREAM_ALLREDUCE, kLarge, [](auto& options) { options.capacity[0] = 440; });
    const Lent of_sum(sum);
    std::vector<Bytes> arrays;
    for (int each = 0; each < kRanks; ++each) {
      arrays.push_back(values_of(TW_F32, kLarge, each, each == 1 ? Data::kNoise : Data::kSmooth));
    }
    Bytes array = arrays[static_cast<std::size_t>(rank)];
    const tw_stream_call call = member.call(sum, of_sum, 7, array.data(), array.data());
    std::uint32_t stages = 1;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      std::thread([&] {
        EXPECT_EQ(tw_stream_enqueue_stage(&call, 1, stage, &stages), TW_OK) << tw_last_error();
      }).join();
      member.stream.wait();
      EXPECT_EQ(check(sum, of_sum.record).complete, stage + 1 == stages ? 1U : 0U);
    }
    EXPECT_EQ(stages, 3U);
    EXPECT_TRUE(same(array.data(), sum_of(TW_F32, arrays, 0)));
    EXPECT_EQ(tw_stream_enqueue_stage(&call, 1, stages, &stages), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_stream_enqueue_stage(&call, 1, 0, nullptr), TW_INVALID_ARGUMENT);
    carrier.stop_serving(member.mailbox.memory);
  });
}

// As one thread drives two devices.
TEST(Groups, OneThreadEnqueuesForTwoRanks) {
  World world(2);
  Member zero(world, 0), one(world, 1);
  Carrier carrier;
  Member* const members[] = {&zero, &one};
  std::vector<Plan> plans;
  std::vector<Lent> lent;
  std::vector<Bytes> arrays;
  std::vector<tw_stream_call> calls;
  for (int rank : {0, 1}) {
    carrier.serve(rank, members[rank]->mailbox.memory);
    plans.push_back(members[rank]->plan(TW_STREAM_ALLREDUCE, kCount,
                                        [](auto& options) { options.way = TW_STREAM_DIRECT; }));
    lent.emplace_back(plans.back());
    arrays.push_back(data_of(rank, 0));
  }
  for (int rank : {0, 1}) {
    const auto at = static_cast<std::size_t>(rank);
    calls.push_back(
        members[rank]->call(plans[at], lent[at], 0, arrays[at].data(), arrays[at].data()));
  }
  ASSERT_EQ(tw_stream_enqueue(calls.data(), 2), TW_OK) << tw_last_error();
  for (int rank : {0, 1}) {
    members[rank]->stream.wait();
    EXPECT_TRUE(same(arrays[static_cast<std::size_t>(rank)].data(), sum_of_all(2, 0)));
  }
}

TEST(Trials, SayWhatTheCallItselfThenNeeds) {
  const Case given{.operation = TW_STREAM_ALLGATHER, .spec = "mpc", .ranks = 2, .count = 50000};
  const auto reports = expect_case(given);
  const auto arrays = arrays_of(given);
  World world(2);
  Member member(world, 1);
  const Plan plan = member.plan(TW_STREAM_ALLGATHER, given.count,
                                [](auto& options) { options.flags = TW_STREAM_TRIAL; });
  const Lent lent(plan);
  member.enqueue(member.call(plan, lent, 0, arrays[1].data(), nullptr));
  member.stream.wait();
  const auto tried = check(plan, lent.record);
  EXPECT_EQ(tried.needed[0], reports[1].needed[0]);
  EXPECT_EQ(tried.frame_bytes, reports[1].frame_bytes);
}

TEST(Trials, SayWhatACallWouldNeedAndSendNothing) {
  World world(3);  // whose other ranks never come
  Member member(world, 1);
  constexpr std::uint64_t kLarge = 60000;
  for (const std::uint32_t operation :
       {TW_STREAM_ALLGATHER, TW_STREAM_REDUCE_SCATTER, TW_STREAM_ALLREDUCE}) {
    const std::uint64_t arrays = operation == TW_STREAM_REDUCE_SCATTER ? 3 : 1;
    const Bytes values = values_of(TW_F32, kLarge * arrays, 1, Data::kSmooth);
    const Plan plan = member.plan(operation, kLarge, [](auto& options) {
      options.capacity[0] = 0;
      options.flags = TW_STREAM_TRIAL;
    });
    const Lent lent(plan);
    EXPECT_EQ(describe(plan).needs_mailbox, 0U);
    EXPECT_EQ(describe(plan).wire_bytes, 0U);
    auto call = member.call(plan, lent, 0, values.data(), nullptr);
    call.mailbox = nullptr;
    member.enqueue(call);
    member.stream.wait();
    const auto report = check(plan, lent.record);
    EXPECT_EQ(report.encoded, operation == TW_STREAM_ALLGATHER ? 1U : 2U);
    EXPECT_EQ(report.spilled_out, 0U);
    EXPECT_GT(report.needed[0], 0U);
    EXPECT_LT(report.needed[0], 512U);
    EXPECT_EQ(report.needed[1], 0U);
  }
  Bytes result = values_of(TW_F32, kLarge, 1, Data::kSmooth);
  const Plan plan = member.plan(TW_STREAM_ALLREDUCE, kLarge,
                                [](auto& options) { options.flags = TW_STREAM_TRIAL_RESULT; });
  const Lent lent(plan);
  member.enqueue(member.call(plan, lent, 0, nullptr, result.data()));
  member.stream.wait();
  const auto report = check(plan, lent.record);
  EXPECT_EQ(report.encoded, 1U);
  EXPECT_EQ(report.needed[0], 0U);
  EXPECT_GT(report.needed[1], 0U);
  EXPECT_EQ(result, values_of(TW_F32, kLarge, 1, Data::kSmooth));
}

}  // namespace
}  // namespace thinwire::slots
