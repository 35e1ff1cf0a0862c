// Blocks that helpers carry beside NCCL.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "agree/blocks.h"
#include "agree/puppet.h"

namespace {

using namespace job;

// Repeats itself after a number of bytes that no piece has.
std::vector<std::byte> content(const Block& block, std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(block.from * 1000 + block.call * 10 + block.number));
  std::array<std::byte, 4093> some;
  for (std::byte& each : some) each = static_cast<std::byte>(random());
  std::vector<std::byte> made(bytes);
  for (std::size_t at = 0; at < bytes; at += some.size()) {
    std::copy_n(some.begin(), std::min(some.size(), bytes - at), made.begin() + at);
  }
  return made;
}

// In pieces, as a mailbox has them.
void give_all(Communicator& comm, const Block& block, int to, std::size_t bytes) {
  const std::vector<std::byte> data = content(block, bytes);
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t count = std::min<std::size_t>(bytes - at, 300'000);
    comm.give(block, to, bytes, std::span(data).subspan(at, count));
    at += count;
  }
}

void expect_all(Communicator& comm, const Block& block, std::size_t bytes) {
  std::vector<std::byte> got(bytes);
  std::size_t at = 0;
  while (at < bytes) {
    const std::size_t room = std::min<std::size_t>(bytes - at, 77'777);
    const Taken taken = comm.take(block, std::span(got).subspan(at, room), 20s);
    ASSERT_EQ(taken.outcome, Outcome::kKnown);
    ASSERT_GT(taken.bytes, 0);
    at += taken.bytes;
    ASSERT_EQ(taken.left, bytes - at);
  }
  ASSERT_EQ(got, content(block, bytes));
}

std::size_t bytes_of(const Block& block) { return 1 + block.call * 170'001 + block.number * 999; }

class Carry : public testing::TestWithParam<int> {};

TEST_P(Carry, BlocksGoToAllRanksInAnyOrder) {
  const int ranks = GetParam();
  Job job(ranks);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  job.run([&](Rank& self) {
    std::vector<Block> wanted;
    for (std::uint64_t call = 0; call < 5; ++call) {
      const Block own{self.rank, false, call, 3};
      give_all(*self.comm, own, kToAll, bytes_of(own));
      for (int from = 0; from < ranks; ++from) {
        if (from != self.rank) wanted.push_back({from, false, call, 3});
      }
    }
    std::ranges::shuffle(wanted, std::mt19937(static_cast<unsigned>(self.rank)));
    for (const Block& block : wanted) expect_all(*self.comm, block, bytes_of(block));
  });
}

TEST_P(Carry, BlocksGoToOneRank) {
  const int ranks = GetParam();
  Job job(ranks);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  job.run([&](Rank& self) {
    for (int to = 0; to < ranks; ++to) {
      if (to == self.rank) continue;
      const Block own{self.rank, true, 1, static_cast<std::uint32_t>(to)};
      give_all(*self.comm, own, to, bytes_of(own));
    }
    for (int from = ranks - 1; from >= 0; --from) {
      if (from == self.rank) continue;
      const Block block{from, true, 1, static_cast<std::uint32_t>(self.rank)};
      expect_all(*self.comm, block, bytes_of(block));
    }
  });
  EXPECT_TRUE(job.all_reach(State::kReady));
}

INSTANTIATE_TEST_SUITE_P(OfRanks, Carry, testing::Values(2, 5, 17));

// Ranks that have taken what was theirs end first; what went by way of them arrives.
TEST(CarryFor, RanksThatEndLater) {
  Job job(10);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  const Block block{9, false, 2, 0};
  give_all(*job.all[9].comm, block, kToAll, 500'000);
  for (int rank = 0; rank < 8; ++rank) {
    expect_all(*job.all[rank].comm, block, 500'000);
    job.all[rank].comm->close();
    job.all[rank].helper.reset();
  }
  expect_all(*job.all[8].comm, block, 500'000);
  EXPECT_EQ(job.all[8].comm->state(), State::kReady);
}

// Rank 0 ends with its process, in order: the others' messages go on, and it does not wait for
// them.
TEST(CarryFor, PairsThatEndAfterAProcess) {
  Job job(6);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  job.all[0].comm->close();
  const auto begin = std::chrono::steady_clock::now();
  job.all[0].helper.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1500ms);
  Channel& sends = job.all[1].comm->to(2);
  Channel& receives = job.all[2].comm->from(1);
  sends.offer(7, {100, 0});
  receives.offer(7, {0, 0});
  std::uint64_t call = 0;
  EXPECT_TRUE(eventually([&] {
    receives.value(call, 7);
    return sends.value(call++, 7).value.capacity != 0;
  }));
  const Block block{1, true, 2, 0};
  give_all(*job.all[1].comm, block, 2, 500'000);
  expect_all(*job.all[2].comm, block, 500'000);
  for (int rank = 1; rank < 6; ++rank) EXPECT_EQ(job.all[rank].comm->state(), State::kReady);
}

TEST(CarryTo, WhoeverWaitsIsReleased) {
  Job job(3);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  const Block never{2, false, 9, 9}, half{2, false, 1, 1};
  std::byte byte{}, two[2]{};
  EXPECT_EQ(job.all[0].comm->take(never, {&byte, 1}).bytes, 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(job.all[0].comm->take(never, {&byte, 1}, 30ms).outcome, Outcome::kKnown);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  job.all[2].comm->give(half, kToAll, 100, two);
  const Taken taken = job.all[1].comm->take(half, {&byte, 1}, 10s);
  EXPECT_EQ(taken.bytes, 1);
  EXPECT_EQ(taken.left, 99);
  std::thread waiting(
      [&] { EXPECT_EQ(job.all[0].comm->take(never, {&byte, 1}, 60s).outcome, Outcome::kBroken); });
  std::this_thread::sleep_for(20ms);
  job.all[2].comm->abort();
  waiting.join();
  ASSERT_TRUE(job.all_reach(State::kBroken));
  // Messages that came before the break can still be taken.
  EXPECT_EQ(job.all[1].comm->take(half, two, 10s).bytes, 1);
  EXPECT_EQ(job.all[1].comm->take(half, two, 10s).outcome, Outcome::kBroken);
  EXPECT_EQ(job.all[2].comm->take(half, two, 10s).outcome, Outcome::kAborted);
}

TEST(CarryOf, PartsOutOfOrderBreaksTheCommunicator) {
  Job job(2);
  const Id id = job.make_id();
  job.open(0, id);
  Puppet puppet(id, 2);
  puppet.join();
  ASSERT_TRUE(reaches(job.all[0].comm, State::kReady));
  const Bytes bytes(10);
  puppet.parent.say(Part{{1, false, 0, 0}, 100, 50, bytes});
  EXPECT_TRUE(reaches(job.all[0].comm, State::kBroken));
}

// A block of a rank that the communicator does not have.
TEST(BadBlock, OfAStrangerBreaks) {
  Job job(1, {}, 2);
  const Id id = job.make_id();
  job.open(0, id);
  Puppet puppet(id, 2);
  puppet.join();
  puppet.parent.say(Part{{7, false, 0, 0}, 0, 0, {}});
  EXPECT_TRUE(reaches(job.all[0].comm, State::kBroken));
}

// More than sockets hold.
TEST(CarryOf, WhatIsUnderWayComesBeforeTheEnd) {
  constexpr std::size_t kBytes = 24 << 20;
  Job job(1, {}, 2);
  const Id id = job.make_id();
  job.open(0, id);
  Puppet puppet(id, 2);
  puppet.join();
  ASSERT_TRUE(reaches(job.all[0].comm, State::kReady));
  give_all(*job.all[0].comm, {0, false, 3, 0}, kToAll, kBytes);
  job.all[0].comm->abort();
  std::size_t come = 0;
  for (auto message = puppet.parent.hear(); message; message = puppet.parent.hear()) {
    if (const auto* part = std::get_if<Part>(&*message)) come += part->bytes.size();
    if (std::holds_alternative<Broken>(*message)) break;
  }
  EXPECT_EQ(come, kBytes);
}

TEST(Blocks, HoldSoMuchOfARank) {
  Gate gate;
  Blocks blocks{gate, 1000};
  const Bytes bytes(100);
  EXPECT_TRUE(blocks.put({1, false, 2, 3}, 100, 0, bytes));
  EXPECT_TRUE(blocks.put({1, false, 2, 4}, 100, 0, bytes));
  EXPECT_FALSE(blocks.put({1, false, 2, 5}, 100, 0, bytes));
  EXPECT_TRUE(blocks.put({2, false, 2, 3}, 100, 0, bytes));
  std::vector<std::byte> to(100);
  EXPECT_EQ(blocks.take({1, false, 2, 3}, to, {}).bytes, 100);
  EXPECT_TRUE(blocks.put({1, false, 2, 6}, 100, 0, bytes));
}

// Many small parts, and blocks of which nothing comes.
TEST(Blocks, CountWhatIsKeptBesideTheBytes) {
  Gate gate;
  constexpr std::uint64_t kMost = 1U << 20;
  Blocks blocks{gate, kMost};
  const Bytes one(1);
  std::uint64_t parts = 0;
  while (parts < kMost && blocks.put({1, false, 0, 0}, kMost, parts, one)) ++parts;
  EXPECT_LT(parts, kMost / 100);
  std::uint64_t empty = 0;
  while (empty < kMost && blocks.put({2, false, empty, 0}, 7, 0, {})) ++empty;
  EXPECT_LT(empty, kMost / 100);
}

TEST(Blocks, OfAllCommunicatorsHoldSoMuch) {
  Budget all(1000);
  Gate gate;
  const Bytes bytes(100);
  {
    Blocks one{gate, 10'000, all}, other{gate, 10'000, all};
    EXPECT_TRUE(one.put({1, false, 2, 3}, 100, 0, bytes));
    EXPECT_TRUE(other.put({1, false, 2, 3}, 200, 0, bytes));
    EXPECT_FALSE(one.put({2, false, 2, 3}, 100, 0, bytes));
    std::vector<std::byte> to(100);
    EXPECT_EQ(one.take({1, false, 2, 3}, to, {}).bytes, 100);
    EXPECT_TRUE(other.put({2, false, 2, 3}, 100, 0, bytes));
  }
  EXPECT_EQ(all.left(), 1000) << "what nobody has taken is given back";
}

TEST(Blocks, TakeTheNextPartAlone) {
  Gate gate;
  Blocks blocks{gate};
  const Block block{1, false, 2, 3};
  const Bytes bytes(10);
  EXPECT_FALSE(blocks.put(block, 30, 10, bytes));
  EXPECT_TRUE(blocks.put(block, 30, 0, bytes));
  EXPECT_FALSE(blocks.put(block, 31, 10, bytes));
  EXPECT_TRUE(blocks.put(block, 30, 10, bytes));
  EXPECT_FALSE(blocks.put(block, 30, 20, Bytes(11)));
  EXPECT_TRUE(blocks.put(block, 30, 20, bytes));
  std::vector<std::byte> to(40);
  EXPECT_EQ(blocks.take(block, to, {}).bytes, 30);
}

}  // namespace
