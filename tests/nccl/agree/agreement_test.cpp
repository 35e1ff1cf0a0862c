// Agreement between helpers, with hosts on threads of their own at speeds of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "agree/job.h"
#include "agree/limits.h"

namespace {

using namespace job;

constexpr std::uint64_t kClasses = 5;
std::uint64_t key_of(std::uint64_t call) { return 77 + call * call % kClasses; }

struct Walk {
  int calls;
  unsigned seed;
  int slowest_us;  // between calls, now and then
  const std::function<void(int call)> before = [](int) {};
};

// Hosts run ahead of each other, by several windows but not without end.
class Leash {
 public:
  explicit Leash(int ranks) : reached_(ranks) {}
  void wait(int rank, int call) {
    reached_[rank] = call;
    if (call % 16 != 0) return;
    const auto slowest = [&] {
      int least = call;
      for (const auto& each : reached_) least = std::min(least, each.load());
      return least;
    };
    while (call > slowest() + 6 * static_cast<int>(kWindow)) std::this_thread::sleep_for(50us);
  }
  void leave(int rank) { reached_[rank] = INT32_MAX; }

 private:
  std::vector<std::atomic<int>> reached_;
};

// The values that a host sees for each call of a channel; it makes offers at random on the way.
std::vector<Value> walk(Channel& channel, const Walk& how, bool offers) {
  std::mt19937 random(how.seed);
  const auto pause = std::chrono::microseconds(random() % (how.slowest_us + 1));
  std::vector<Value> seen;
  for (int call = 0; call < how.calls; ++call) {
    how.before(call);
    channel.confirm(call);
    const Answer answer = channel.value(call, key_of(call));
    EXPECT_EQ(answer.outcome, Outcome::kKnown);
    seen.push_back(answer.value);
    if (offers && random() % 200 == 0) {
      channel.offer(key_of(call), {static_cast<std::uint16_t>(random() % 512), 0});
    }
    if (random() % 50 == 0) std::this_thread::sleep_for(pause);
  }
  return seen;
}

class Agreement : public testing::TestWithParam<int> {};

TEST_P(Agreement, EveryCallHasOneValue) {
  constexpr int kCalls = 12'000;
  const int ranks = GetParam();
  Job job(ranks);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<std::vector<Value>> seen(ranks);
  Leash leash(ranks);
  job.run([&](Rank& self) {
    // Some are as fast as they can be, and run ahead of the others.
    const int slowest = self.rank % 3 == 0 ? 0 : 400;
    seen[self.rank] = walk(self.comm->collectives(),
                           {kCalls, static_cast<unsigned>(self.rank), slowest,
                            [&](int call) { leash.wait(self.rank, call); }},
                           true);
    leash.leave(self.rank);
  });
  int coded = 0;
  for (int call = 0; call < kCalls; ++call) {
    for (int rank = 1; rank < ranks; ++rank) {
      ASSERT_EQ(seen[rank][call], seen[0][call]) << "call " << call << " rank " << rank;
    }
    coded += seen[0][call].capacity != 0;
  }
  EXPECT_GT(coded, 100);
}

INSTANTIATE_TEST_SUITE_P(OfRanks, Agreement, testing::Values(2, 3, 6, 17));

// Offers that came before it was known who has the library count.
TEST(AgreementOf, CallsThatBeganEarly) {
  Job job(6);
  const Id id = job.make_id();
  for (int rank = 0; rank < 5; ++rank) job.open(rank, id);
  std::vector<std::vector<Value>> seen(6);
  std::vector<std::thread> hosts;
  const auto work = [&](int rank) {
    job.all[rank].comm->collectives().offer(77, {200, 0});
    seen[rank] = walk(job.all[rank].comm->collectives(), {3000, 5, 100}, true);
  };
  for (int rank = 0; rank < 5; ++rank) hosts.emplace_back(work, rank);
  std::this_thread::sleep_for(20ms);
  job.open(5, id);
  work(5);
  for (std::thread& host : hosts) host.join();
  for (int rank = 1; rank < 6; ++rank) EXPECT_EQ(seen[rank], seen[0]);
}

// One rank is far behind, and the value changes again and again meanwhile.
TEST(AgreementOf, ARankFarBehind) {
  Job job(4);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<std::vector<Value>> seen(4);
  std::uint64_t call = 0;
  for (std::uint16_t round = 1; round <= 6; ++round) {
    const std::uint16_t needed = 50 * round;
    for (Rank& each : job.all) each.comm->collectives().offer(1, {needed, 0});
    const Value wanted = decide({}, {needed, 0});
    ASSERT_TRUE(eventually([&] {
      for (int rank = 0; rank < 3; ++rank) {
        seen[rank].push_back(job.all[rank].comm->collectives().value(call, 1).value);
      }
      ++call;
      return seen[0].back() == wanted;
    }));
  }
  for (std::uint64_t late = 0; late < call; ++late) {
    seen[3].push_back(job.all[3].comm->collectives().value(late, 1).value);
  }
  for (int rank = 1; rank < 4; ++rank) EXPECT_EQ(seen[rank], seen[0]);
}

TEST(AgreementOf, AVetoKeepsAClassRawUntilItIsTakenBack) {
  Job job(3);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::uint64_t call = 0;
  const auto comes_to = [&](Value wanted) {
    return eventually([&] {
      Value value;
      for (Rank& each : job.all) value = each.comm->collectives().value(call, 1).value;
      ++call;
      return value == wanted;
    });
  };
  EXPECT_EQ(job.all[1].comm->collectives().value(call, 1).value, (Value{0, kUndecided}));
  for (Rank& each : job.all) {
    each.comm->collectives().offer(1, {100, static_cast<std::uint16_t>(each.rank == 2 ? 12 : 0)});
  }
  EXPECT_TRUE(comes_to({0, 12}));
  job.all[2].comm->collectives().offer(1, {101, 0});
  EXPECT_TRUE(comes_to(decide({}, {101, 0})));
}

class Pairs : public testing::TestWithParam<int> {};

TEST_P(Pairs, BothEndsSeeOneValue) {
  constexpr int kCalls = 4000;
  const int ranks = GetParam();
  Job job(ranks);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  // Each sends to the next and to the first.
  std::vector<std::vector<Value>> sent(ranks), received(ranks), to_first(ranks), at_first(ranks);
  job.run([&](Rank& self) {
    const int rank = self.rank, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    const unsigned seed = static_cast<unsigned>(rank);
    std::thread receiver(
        [&] { received[rank] = walk(self.comm->from(before), {kCalls, seed + 50, 300}, true); });
    std::thread first([&] {
      if (rank == 0 || next == 0) return;
      to_first[rank] = walk(self.comm->to(0), {kCalls, seed + 99, 200}, true);
    });
    sent[rank] = walk(self.comm->to(next), {kCalls, seed, rank % 2 == 0 ? 0 : 300}, true);
    receiver.join();
    first.join();
  });
  int coded = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(received[(rank + 1) % ranks], sent[rank]) << rank;
    coded += static_cast<int>(
        std::ranges::count_if(sent[rank], [](const Value& each) { return each.capacity != 0; }));
  }
  EXPECT_GT(coded, 100);
}

INSTANTIATE_TEST_SUITE_P(OfRanks, Pairs, testing::Values(2, 3, 7, 17));

// Both ends ask for calls in step until a value comes.
template <typename Holds>
bool comes_to(Channel& to, Channel& from, std::uint64_t& call, int most, Holds holds) {
  for (int times = 0; times < most; ++times, ++call) {
    const Value value = to.value(call, 1).value;
    EXPECT_EQ(from.value(call, 1).value, value);
    if (holds(value)) return true;
    std::this_thread::sleep_for(500us);
  }
  return false;
}

TEST(PairOf, NothingIsAgreedBeforeTheReceiverOffers) {
  Job job(2);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  Channel& to = job.all[0].comm->to(1);
  Channel& from = job.all[1].comm->from(0);
  std::uint64_t call = 0;
  const auto is_agreed = [](const Value& value) { return value.reason != kUndecided; };
  to.offer(1, {.needed = 100});
  EXPECT_FALSE(comes_to(to, from, call, 600, is_agreed));
  from.offer(1, {});
  EXPECT_TRUE(comes_to(to, from, call, 20'000,
                       [](const Value& value) { return value == decide({}, {100, 0}); }));
}

TEST(PairOf, TheSendersTypeHoldsWhateverTheReceiverCallsIt) {
  Job job(2);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  Channel& to = job.all[0].comm->to(1);
  Channel& from = job.all[1].comm->from(0);
  std::uint64_t call = 0;
  from.offer(1, {.dtype = 6});
  for (const std::uint8_t dtype : {1, 4, 6, 1}) {
    to.offer(1, {.needed = 100, .dtype = dtype});
    EXPECT_TRUE(comes_to(to, from, call, 20'000, [&](const Value& value) {
      return value.capacity > 0 && value.dtype == dtype;
    }));
  }
  // A raw kind has no type, so a type alone begins no round.
  to.offer(1, {.needed = 513, .dtype = 4});
  EXPECT_TRUE(comes_to(to, from, call, 20'000,
                       [](const Value& value) { return value == Value{0, kNotSmaller}; }));
}

TEST(PairOf, AReceiverCanVeto) {
  Job job(7);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  Channel& to = job.all[5].comm->to(6);
  Channel& from = job.all[6].comm->from(5);
  from.offer(1, {0, 33});
  to.offer(1, {100, 0});
  std::uint64_t call = 0;
  EXPECT_TRUE(eventually([&] {
    const Value value = to.value(call, 1).value;
    EXPECT_EQ(from.value(call, 1).value, value);
    ++call;
    return value == Value{0, 33};
  }));
}

}  // namespace
