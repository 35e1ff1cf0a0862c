// Faults: damage, aborts, ranks that differ, transports that fail.
#include <gtest/gtest.h>

#include "member.h"

namespace thinwire::slots {
namespace {

constexpr std::uint64_t kCount = 3000;
constexpr std::uint64_t kBytes = kCount * sizeof(float);

Bytes data_of(int rank, Data data = Data::kSmooth) { return values_of(TW_F32, kCount, rank, data); }

// One Allgather of three ranks; what comes from rank 1 to rank 2 is changed.
void expect_damage(const World::Tamper& change, std::uint64_t number_of_one = 5) {
  World world(3);
  Carrier carrier;
  world.tamper([&](int from, int to, std::byte* data, std::uint64_t bytes) {
    if (from == 1 && to == 2) change(from, to, data, bytes);
  });
  on_ranks(3, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const Plan plan = member.plan(TW_STREAM_ALLGATHER, kCount);
    const Lent lent(plan);
    const Bytes own = data_of(rank);
    Bytes all(3 * kBytes);
    member.enqueue(member.call(plan, lent, rank == 1 ? number_of_one : 5, own.data(), all.data()));
    member.stream.wait();
    const bool others_call = rank == 1 && number_of_one != 5;
    const bool hurt = rank == 2 || number_of_one != 5;
    check(plan, lent.record, hurt ? TW_DAMAGED : TW_OK);
    for (int from = 0; from < 3; ++from) {
      const std::byte* const at = all.data() + static_cast<std::uint64_t>(from) * kBytes;
      const bool lost = from != rank && (others_call || (hurt && from == 1));
      EXPECT_EQ(all_nan(at, kCount), lost) << rank << " from " << from;
      if (lost) continue;
      EXPECT_TRUE(same(at, data_of(from))) << rank << " from " << from;
    }
    carrier.stop_serving(member.mailbox.memory);
  });
}

TEST(Damage, OfAnyByteOfTheHeader) {
  for (std::uint64_t place = 0; place < 64; place += 3) {
    SCOPED_TRACE(place);
    expect_damage([&](int, int, std::byte* data, std::uint64_t) { data[place] ^= std::byte{4}; });
  }
}

TEST(Damage, OfTheFrameInTheSlot) {
  for (const std::uint64_t place : {64, 70, 100, 150, 400}) {
    SCOPED_TRACE(place);
    expect_damage([&](int, int, std::byte* data, std::uint64_t) { data[place] ^= std::byte{1}; });
  }
}

TEST(Damage, ASlotOfAnotherCall) {
  expect_damage([](int, int, std::byte*, std::uint64_t) {}, 6);
}

// A sum that one rank could not make no rank has.
TEST(Damage, InTheFirstExchangeOfAnAllreduceIsToldToAll) {
  World world(3);
  Carrier carrier;
  std::atomic<int> changed{0};
  world.tamper([&](int from, int to, std::byte* data, std::uint64_t) {
    if (from == 0 && to == 1 && changed++ == 0) data[90] ^= std::byte{1};
  });
  on_ranks(3, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const Plan plan = member.plan(TW_STREAM_ALLREDUCE, kCount,
                                  [](auto& options) { options.way = TW_STREAM_DIRECT; });
    const Lent lent(plan);
    Bytes array = data_of(rank);
    member.enqueue(member.call(plan, lent, 1, array.data(), array.data()));
    member.stream.wait();
    check(plan, lent.record, rank == 1 ? TW_DAMAGED : TW_INTERNAL);
    const Bytes sum = sum_of(TW_F32, {data_of(0), data_of(1), data_of(2)}, 0);
    // Blocks of 1024 elements; rank 1's are lost.
    EXPECT_TRUE(same(array.data(), Bytes(sum.begin(), sum.begin() + 4096)));
    EXPECT_TRUE(all_nan(array.data() + 4096, 1024)) << rank;
    EXPECT_TRUE(same(array.data() + 8192, Bytes(sum.begin() + 8192, sum.end())));
    carrier.stop_serving(member.mailbox.memory);
  });
}

// Bytes for which a slot of capacity 440, 10752 bytes with its header, has no room.
constexpr std::uint64_t kOutside = kBytes - (10752 - 64);

// Nobody serves the mailboxes.
TEST(Spilled, BlocksThatTheirSlotsHaveRoomForNeedNoMailbox) {
  World world(2);
  on_ranks(2, [&](int rank) {
    Member member(world, rank);
    const Plan plan =
        member.plan(TW_STREAM_ALLGATHER, kCount, [](auto& options) { options.capacity[0] = 512; });
    const Lent lent(plan);
    const Bytes own = data_of(rank, Data::kNoise);
    Bytes all(2 * kBytes);
    member.enqueue(member.call(plan, lent, 1, own.data(), all.data()));
    member.stream.wait();
    const tw_stream_report report = check(plan, lent.record);
    EXPECT_EQ(report.spilled_out, 1U);
    EXPECT_EQ(report.spilled_in, 1U);
    EXPECT_TRUE(same(all.data(), data_of(0, Data::kNoise)));
    EXPECT_TRUE(same(all.data() + kBytes, data_of(1, Data::kNoise)));
  });
}

TEST(Abort, WhileAFinishStepWaits) {
  World world(2);
  Carrier carrier;
  carrier.hold();
  on_ranks(2, [&](int rank) {
    Member member(world, rank);
    carrier.serve(rank, member.mailbox.memory);
    const Plan plan =
        member.plan(TW_STREAM_ALLGATHER, kCount, [](auto& options) { options.capacity[0] = 440; });
    const Lent lent(plan), lent_later(plan);
    const Bytes own = data_of(rank, rank == 1 ? Data::kNoise : Data::kSmooth);
    const Bytes later = data_of(rank + 2);
    Bytes all(2 * kBytes), all_later(2 * kBytes);
    member.enqueue(member.call(plan, lent, 1, own.data(), all.data()));
    member.enqueue(member.call(plan, lent_later, 2, later.data(), all_later.data()));
    if (rank == 0) {
      tw_mailbox_chunk wanted{};
      wanted.size = sizeof wanted;
      while (wanted.bytes == 0) {
        ASSERT_EQ(tw_mailbox_wanted(member.mailbox.memory, &wanted), TW_OK);
        std::this_thread::yield();
      }
      EXPECT_EQ(wanted.call, 1U);
      EXPECT_EQ(wanted.block, 1U);
      EXPECT_EQ(wanted.rank, 1);
      EXPECT_EQ(wanted.block_bytes, kOutside);
      EXPECT_EQ(check(plan, lent.record).complete, 0U);
      tw_mailbox_abort(member.mailbox.memory);
      ASSERT_EQ(tw_mailbox_wanted(member.mailbox.memory, &wanted), TW_OK);
      EXPECT_EQ(wanted.bytes, 0U) << "nobody waits any more";
    }
    member.stream.wait();
    check(plan, lent.record, rank == 0 ? TW_INTERNAL : TW_OK);
    if (rank == 0) {
      EXPECT_TRUE(all_nan(all.data() + kBytes, kCount));
      EXPECT_TRUE(same(all.data(), own));
    }
    // Calls that need no mailbox go on.
    check(plan, lent_later.record);
    EXPECT_TRUE(same(all_later.data(), data_of(2)));
    EXPECT_TRUE(same(all_later.data() + kBytes, data_of(3)));
    carrier.stop_serving(member.mailbox.memory);
  });
}

TEST(Abort, WhileSpilledValuesWaitToBeTaken) {
  World world(2);
  on_ranks(2, [&](int rank) {
    Member member(world, rank);
    const Plan plan =
        member.plan(TW_STREAM_ALLREDUCE, kCount, [](auto& options) { options.capacity[0] = 440; });
    const Lent lent(plan);
    Bytes array = data_of(rank, rank == 1 ? Data::kNoise : Data::kSmooth);
    member.enqueue(member.call(plan, lent, 1, array.data(), array.data()));
    tw_mailbox_chunk chunk{};
    chunk.size = sizeof chunk;
    if (rank == 1) {
      while (chunk.bytes == 0) {
        ASSERT_EQ(tw_mailbox_offered(member.mailbox.memory, &chunk), TW_OK);
        std::this_thread::yield();
      }
      EXPECT_EQ(chunk.rank, -1);
      EXPECT_EQ(chunk.offset, 0U);
      EXPECT_EQ(chunk.block_bytes, kOutside);
    }
    tw_mailbox_abort(member.mailbox.memory);
    member.stream.wait();
    check(plan, lent.record, TW_INTERNAL);
    EXPECT_TRUE(rank == 1 || all_nan(array.data(), kCount));
  });
}

TEST(Mailboxes, RefuseWhatIsNone) {
  alignas(64) std::byte memory[4096] = {};
  EXPECT_EQ(tw_mailbox_open(memory, 2047), TW_TOO_SMALL);
  EXPECT_EQ(tw_mailbox_open(memory + 1, 4000), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_mailbox_open(nullptr, 4096), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_mailbox_taken(memory), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_mailbox_given(nullptr), TW_INVALID_ARGUMENT);
  tw_mailbox_chunk chunk{};
  chunk.size = sizeof chunk;
  EXPECT_EQ(tw_mailbox_offered(memory, &chunk), TW_INVALID_ARGUMENT);
  tw_mailbox_abort(nullptr);
  ASSERT_EQ(tw_mailbox_open(memory, 4096), TW_OK);
  EXPECT_EQ(tw_mailbox_offered(memory, &chunk), TW_OK);
  EXPECT_EQ(chunk.bytes, 0U);
  // Nothing is under way.
  EXPECT_EQ(tw_mailbox_taken(memory), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_mailbox_given(memory), TW_INVALID_ARGUMENT);
}

TEST(Transports, TheirFailureIsTheCalls) {
  World world(2);
  Member member(world, 0);
  const Plan plan = member.plan(TW_STREAM_SEND, kCount, [](auto& options) { options.peer = 1; });
  const Lent lent(plan);
  const Bytes own = data_of(0);
  const auto call = member.call(plan, lent, 1, own.data(), nullptr);
  world.sends_to_fail = 1;
  EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_DEVICE);
  EXPECT_STREQ(tw_last_error(), "the stream transport could not send");
  member.stream.wait();
}

}  // namespace
}  // namespace thinwire::slots
