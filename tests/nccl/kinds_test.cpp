// Which calls of a kind go raw, which coded, which are timed; and what is offered of that.
#include "run/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace thinwire::nccl {
namespace {

enum Dtype : std::uint8_t { kBytes, kF32, kF64, kBf16 = 4 };

struct Refusing final : agree::Channel {
  agree::Answer value(std::uint64_t, std::uint64_t) override { return {}; }
  void confirm(std::uint64_t) override {}
  void offer(std::uint64_t, agree::Offer offer) override {
    if (refuses) throw std::bad_alloc();
    made.push_back(offer);
  }
  bool refuses = false;
  std::vector<agree::Offer> made;
};

struct Offers final : agree::Channel {
  agree::Answer value(std::uint64_t, std::uint64_t) override { return {}; }
  void confirm(std::uint64_t) override {}
  void offer(std::uint64_t, agree::Offer offer) override { made.push_back(offer); }
  std::vector<agree::Offer> made;
};

// So many calls: c or r, in capitals if it is timed.
std::string ways(Kind& of, const agree::Value& value, int calls, bool once = false) {
  std::string found;
  for (int call = 0; call < calls; ++call) {
    const Turn turn = of.turn(value, once);
    const bool timed = turn.timing_round != 0;
    found += turn.codes ? (timed ? 'C' : 'c') : (timed ? 'R' : 'r');
  }
  return found;
}

agree::Value under_way(std::uint16_t timing_round, bool codes, std::uint16_t calls = 3) {
  agree::Value value{.capacity = 300, .timing_round = timing_round};
  value.decided = static_cast<std::uint16_t>(timing_round - 1);
  value.calls = calls;
  value.codes = codes;
  return value;
}

agree::Value decided(std::uint16_t timing_round, bool codes, std::uint64_t raw,
                     std::uint64_t coded) {
  agree::Value value = under_way(timing_round, codes);
  value.decided = timing_round;
  value.times.raw = raw;
  value.times.coded = coded;
  value.times.raw_mean = raw;
  value.times.coded_mean = coded;
  return value;
}

TEST(Kind, OffersAgainWhatTheSystemRefused) {
  Refusing offers;
  Kind of(offers, 1, true);
  of.measured(200, false);
  EXPECT_FALSE(of.owes_offer());
  const Turn turn{.timing_round = 1, .calls = 1};
  of.timed(turn, 5);
  offers.refuses = true;
  EXPECT_THROW(of.timed(turn, 7), std::bad_alloc);
  EXPECT_TRUE(of.owes_offer());
  EXPECT_THROW(of.offer(), std::bad_alloc);
  offers.refuses = false;
  of.offer();
  EXPECT_FALSE(of.owes_offer());
  EXPECT_EQ(offers.made.back().timed, 1);
}

TEST(Kind, IsLeftToNcclWhateverElseKeepsItRaw) {
  Offers offers;
  Kind of(offers, 1, true);
  of.measured(200, false);
  of.veto(7);
  of.leave_to_nccl(9);
  of.leave_to_nccl(9);
  ASSERT_EQ(offers.made.size(), 3);
  EXPECT_EQ(offers.made.back().veto, 9);
  // Neither a look for memory nor what was under way takes it back.
  for (int call = 0; call < 5000; ++call) EXPECT_FALSE(of.looks_for_memory());
  of.measured(100, false);
  of.lift_veto();
  EXPECT_EQ(offers.made.size(), 3);
}

TEST(Kind, ComesBackAfterManyCallsThatNeedNoLeaving) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_FALSE(of.needs_no_leaving());
  of.leave_to_nccl(9);
  for (int call = 0; call < 255; ++call) EXPECT_FALSE(of.needs_no_leaving());
  of.leave_to_nccl(9);
  for (int call = 0; call < 255; ++call) EXPECT_FALSE(of.needs_no_leaving());
  EXPECT_TRUE(of.needs_no_leaving());
  of.come_back();
  EXPECT_TRUE(of.is_back());
  EXPECT_FALSE(of.is_left_to_nccl());
  // Whoever came back in vain comes back later.
  of.leave_to_nccl(9);
  for (int call = 0; call < 511; ++call) EXPECT_FALSE(of.needs_no_leaving());
  EXPECT_TRUE(of.needs_no_leaving());
  of.come_back();
  EXPECT_EQ(offers.made.back().veto, 9);  // until it is measured
  of.lift_veto();
  of.measured(200, true);
  EXPECT_FALSE(of.is_back());
  EXPECT_EQ(offers.made.back().veto, 0);
  EXPECT_EQ(offers.made.back().needed, 200);
}

TEST(Kind, WithoutAGuardWhatFitsIsCoded) {
  Offers offers;
  Kind of(offers, 1, false);
  EXPECT_EQ(ways(of, {.capacity = 300}, 5000), std::string(5000, 'c'));
  of.measured(200, false);
  ASSERT_EQ(offers.made.size(), 1);
  EXPECT_EQ(offers.made[0].asks, 0);
}

TEST(Kind, OffersTheTypeOfWhatItOffers) {
  Offers offers;
  Kind of(offers, 1, false);
  of.measured(200, false, kF32);
  of.measured(200, false, kBf16);
  ASSERT_EQ(offers.made.size(), 1) << "nothing more is needed";
  EXPECT_EQ(offers.made[0].dtype, kF32);
  of.ask(1);
  EXPECT_EQ(offers.made.back().dtype, kF32);
  of.measured(300, false, kF64);
  EXPECT_EQ(offers.made.back().dtype, kF64);
  of.measured(100, true, kBf16);
  EXPECT_EQ(offers.made.back().dtype, kBf16);
}

TEST(Kind, IsOfOneTypeUntilOneComesBetween) {
  Offers offers;
  Kind of(offers, 1, false);
  EXPECT_TRUE(of.is_of_one_type());
  const auto note = [&](std::uint32_t dtype, int times) {
    for (int time = 0; time < times; ++time) of.note_type(dtype);
    return of.is_of_one_type();
  };
  EXPECT_FALSE(note(kF32, 7)) << "too few to tell";
  EXPECT_TRUE(note(kF32, 1));
  EXPECT_FALSE(note(kBytes, 1));
  EXPECT_FALSE(note(kF32, 255));
  EXPECT_TRUE(note(kF32, 1));
  EXPECT_FALSE(note(kBf16, 255));
  EXPECT_TRUE(note(kBf16, 1));
}

TEST(Kind, IsTriedEverMoreRarelyWhileUndecided) {
  Offers offers;
  Kind of(offers, 1, false);
  std::vector<int> tried;
  for (int call = 0; call < 1000; ++call) {
    if (of.wants_sample(agree::kUndecided)) tried.push_back(call);
  }
  EXPECT_EQ(tried, (std::vector{0, 1, 2, 3, 32, 64, 128, 256, 512}));
}

TEST(Kind, ATimingRoundTimesBothWays) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_EQ(ways(of, under_way(1, false), 9), "RRRCCCrrr");
  EXPECT_EQ(ways(of, decided(1, true, 1000, 500), 3), "ccc");
  EXPECT_EQ(ways(of, under_way(2, true), 9), "CCCRRRccc");
}

TEST(Kind, ALaterTimingRoundIsSpreadOverCallsThatComeAlone) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_EQ(ways(of, decided(1, true, 1000, 500), 3), "ccc");
  const std::string found = ways(of, under_way(2, true, 8), 80);
  EXPECT_EQ(std::ranges::count(found, 'C'), 8);
  EXPECT_EQ(std::ranges::count(found, 'R'), 8);
  EXPECT_EQ(std::ranges::count(found, 'r'), 0);
  EXPECT_GT(found.find_last_of("CR"), 59);
}

TEST(Kind, AChangeOfCapacityChangesNoTurn) {
  Offers offers;
  Kind of(offers, 1, true);
  agree::Value value = under_way(1, false);
  EXPECT_EQ(ways(of, value, 4), "RRRC");
  value.capacity = 320;
  EXPECT_EQ(ways(of, value, 4), "CCrr");
}

TEST(Kind, SaysThatItsNextCallIsTimed) {
  Offers offers;
  Kind of(offers, 1, true);
  const auto next_is_timed = [&](const agree::Value& value, int calls, bool once = false) {
    std::string found;
    bool said = false;
    for (int call = 0; call < calls; ++call) {
      const Turn turn = of.turn(value, once);
      found += (turn.timing_round != 0) == said ? '=' : '!';
      said = turn.is_before_timed;
    }
    return found;
  };
  // Nobody can know before the first call that it is timed.
  EXPECT_EQ(next_is_timed(under_way(1, false), 8), "!=======");
  EXPECT_EQ(next_is_timed(decided(1, true, 1000, 500), 100), std::string(100, '='));
  EXPECT_EQ(next_is_timed(under_way(2, true, 8), 80).substr(1), std::string(79, '='));
  EXPECT_EQ(next_is_timed(decided(2, true, 1000, 500), 50), std::string(50, '='));
  EXPECT_EQ(next_is_timed(decided(1, true, 1000, 500), 100, true), std::string(100, '='));
}

// A group is only simulated on this rank, others have not come to it.
TEST(Kind, TurnsThatAreTakenBackCountNothing) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_EQ(ways(of, under_way(1, false), 2), "RR");
  EXPECT_EQ(ways(of, under_way(1, false), 3), "RCC");
  EXPECT_EQ(ways(of, under_way(2, true), 2), "CC");
  for (int turn = 0; turn < 5; ++turn) of.take_turn_back();
  EXPECT_EQ(ways(of, under_way(1, false), 5), "RCCCr");
  EXPECT_EQ(ways(of, under_way(2, true), 7), "CCCRRRc");
}

// A group that is only simulated may come to a timing round after calls of its own.
TEST(Kind, ATimingRoundThatTurnsTakenBackBeganBeginsWithTheNextOne) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_EQ(ways(of, under_way(1, false), 1), "R");
  EXPECT_EQ(ways(of, decided(1, true, 200, 100), 2), "cc");
  EXPECT_EQ(ways(of, under_way(2, true), 1), "C");
  for (int turn = 0; turn < 3; ++turn) of.take_turn_back();
  EXPECT_EQ(ways(of, under_way(2, true), 8), "CCCRRRcc");
}

TEST(Kind, OffersTheLeastOfWhatWasTimed) {
  Offers offers;
  Kind of(offers, 1, true);
  of.measured(200, false);
  ASSERT_EQ(offers.made.size(), 1);
  EXPECT_EQ(std::tuple(offers.made[0].asks, offers.made[0].timed), std::tuple(1, 0));
  const auto timed = [&](std::uint16_t timing_round, bool codes, std::uint64_t took) {
    of.timed({.codes = codes, .timing_round = timing_round, .calls = 3}, took);
  };
  for (const std::uint64_t took : {500, 0, 400}) timed(1, false, took);
  for (const std::uint64_t took : {300, 350}) timed(1, true, took);
  EXPECT_EQ(offers.made.size(), 1) << "not all have come";
  timed(1, true, 310);
  ASSERT_EQ(offers.made.size(), 2);
  const agree::Offer& last = offers.made.back();
  EXPECT_EQ(std::tuple(last.timed, last.times.raw, last.times.coded), std::tuple(1, 400, 300));
  EXPECT_EQ(last.needed, 200);
  // Nothing of this counts in the next round.
  for (int at = 0; at < 6; ++at) timed(2, at < 3, 1000);
  EXPECT_EQ(std::tuple(offers.made.back().timed, offers.made.back().times.raw),
            std::tuple(2, 1000));
}

// Else the round would be under way for ever: its calls are over.
TEST(Kind, WhatWasTimedAndAskedUnderAVetoIsOfferedAtItsEnd) {
  Offers offers;
  Kind of(offers, 1, true);
  of.measured(200, false);
  for (int at = 0; at < 6; ++at) {
    if (at == 4) of.leave_to_nccl(9);
    of.timed({.codes = at >= 3, .timing_round = 1, .calls = 3}, 1000);
  }
  of.ask(1);
  ASSERT_EQ(offers.made.size(), 2);
  EXPECT_EQ(offers.made.back().timed, 0);
  of.come_back();
  of.lift_veto();
  const agree::Offer& last = offers.made.back();
  EXPECT_EQ(std::tuple(last.veto, last.timed, last.times.raw, last.asks),
            std::tuple(0, 1, 1000, 2));
}

TEST(Kind, OfEightTimesTheSecondLeastCounts) {
  Offers offers;
  Kind of(offers, 1, true);
  for (const bool codes : {false, true}) {
    for (std::uint64_t call = 0; call < 8; ++call) {
      const std::uint64_t took = (codes ? 600 : 1000) + call;
      of.timed({.codes = codes, .timing_round = 2, .calls = 8}, call == 3 ? 20 : took);
    }
  }
  ASSERT_FALSE(offers.made.empty());
  EXPECT_EQ(std::pair(offers.made.back().times.raw, offers.made.back().times.coded),
            std::pair(std::uint64_t{1000}, std::uint64_t{600}));
}

int first_ask(Kind& of, const agree::Value& value, int most, bool once = false) {
  for (int call = 0; call < most; ++call) {
    if (of.turn(value, once).asks) return call;
  }
  return -1;
}

TEST(Kind, AsksAgainEverMoreRarely) {
  Offers offers;
  Kind of(offers, 1, true);
  int before = 0;
  for (std::uint16_t timing_round = 1; timing_round < 6; ++timing_round) {
    const agree::Value value = decided(timing_round, true, 1000, 500);
    const int asks = first_ask(of, value, 100'000);
    EXPECT_GT(asks, before);
    before = asks;
    of.ask(value.timing_round);
    EXPECT_EQ(offers.made.back().asks, timing_round + 1);
  }
  // After it has changed its mind it asks sooner.
  const int changed = first_ask(of, decided(6, false, 1000, 1100), 100'000);
  EXPECT_LT(changed, before / 4);
}

TEST(Kind, WhatIsDecidedOnceIsNeverAskedForAgain) {
  Offers offers;
  Kind of(offers, 1, true);
  EXPECT_EQ(first_ask(of, decided(1, true, 1000, 500), 100'000, true), -1);
}

// Some calls between timing rounds, of which those are timed that the way says: until it asks.
int calls_until_overtaken(Kind& of, Offers& offers, const agree::Value& value, std::uint64_t took) {
  for (int call = 0; call < 100'000; ++call) {
    const Turn turn = of.turn(value, false);
    if (turn.timing_round == 0) continue;
    EXPECT_EQ(turn.calls, 0);
    of.timed(turn, took);
    if (!offers.made.empty() && offers.made.back().asks > value.decided) return call;
  }
  return -1;
}

TEST(Kind, AsksSoonWhereItsWayIsOvertaken) {
  for (const bool codes : {true, false}) {
    Offers offers;
    Kind of(offers, 1, true);
    const agree::Value value = decided(1, codes, codes ? 1000 : 500, codes ? 500 : 1000);
    EXPECT_EQ(calls_until_overtaken(of, offers, value, 900), -1);
    const int asks = calls_until_overtaken(of, offers, value, 1100);
    EXPECT_GT(asks, 0);
    EXPECT_LT(asks, 600);
  }
}

TEST(Kind, OneLateRankIsNotOvertaken) {
  Offers offers;
  Kind of(offers, 1, true);
  const agree::Value value = decided(1, true, 1000, 500);
  for (int call = 0; call < 5000; ++call) {
    const Turn turn = of.turn(value, false);
    if (turn.timing_round != 0) of.timed(turn, call / 32 % 8 == 0 ? 50'000 : 600);
  }
  EXPECT_TRUE(offers.made.empty());
}

// As direct exchanges may have if many send to one: quick at times.
TEST(Kind, CallsThatAreSlowAgainAndAgainAreOvertaken) {
  Offers offers;
  Kind of(offers, 1, true);
  const agree::Value value = decided(1, true, 1000, 500);
  for (int call = 0; call < 300; ++call) {
    const Turn turn = of.turn(value, false);
    if (turn.timing_round != 0) of.timed(turn, call / 32 % 4 == 0 ? 600 : 50'000);
  }
  ASSERT_FALSE(offers.made.empty());
  EXPECT_EQ(offers.made.back().asks, 2);
}

TEST(Kind, OffersMeansBesideTypicalTimes) {
  Offers offers;
  Kind of(offers, 1, true);
  for (const bool codes : {false, true}) {
    for (const std::uint64_t took : {900, 50'000, 900, 50'000, 900, 900, 900, 900}) {
      of.timed({.codes = codes, .timing_round = 1, .calls = 8}, codes ? took : 1000);
    }
  }
  ASSERT_EQ(offers.made.size(), 1);
  EXPECT_EQ(offers.made[0].times.raw_mean, 1000);
  EXPECT_EQ(offers.made[0].times.coded_mean, (50'000 + 6 * 900) / 7);
}

TEST(Kind, GoesRawWhileACallSpillsMuch) {
  Offers offers;
  Kind of(offers, 1, false);
  of.measured(200, false);
  of.spills();
  ASSERT_EQ(offers.made.size(), 2);
  EXPECT_EQ(offers.made.back().needed, Needs::kNone);
  of.measured(300, false);
  EXPECT_GT(offers.made.back().needed, 300);
  EXPECT_LT(offers.made.back().needed, 330);
}

TEST(Kind, IsTriedMoreRarelyWhereItComesBackInVain) {
  Offers offers;
  Kind of(offers, 1, false);
  const auto calls_to_a_sample = [&] {
    int calls = 1;
    while (!of.wants_sample(agree::kNotSmaller)) ++calls;
    return calls;
  };
  of.measured(200, false);
  for (const int calls : {256, 512, 1024}) {
    of.spills();
    of.measured(513, false);
    EXPECT_EQ(calls_to_a_sample(), calls);
    of.measured(200, true);
  }
}

// The veto is for memory that a rank lacked.
TEST(Kind, AVetoForMemoryAges) {
  Offers offers;
  Kind of(offers, 1, false);
  EXPECT_FALSE(of.looks_for_memory()) << "it is another rank's veto";
  of.measured(200, false);
  of.veto(7);
  of.lift_veto();
  ASSERT_EQ(offers.made.size(), 2) << "it is not time";
  const auto calls_to_a_look = [&] {
    int calls = 1;
    while (!of.looks_for_memory()) ++calls;
    return calls;
  };
  EXPECT_EQ(calls_to_a_look(), 1024);
  of.suspend_veto();
  of.veto(7);
  EXPECT_EQ(offers.made[2], offers.made[1]);
  EXPECT_EQ(calls_to_a_look(), 2048) << "in vain";
  of.suspend_veto();
  of.lift_veto();
  ASSERT_EQ(offers.made.size(), 4);
  EXPECT_EQ(offers.made.back(), offers.made.front());
}

TEST(Kind, TellsADecisionOnce) {
  Offers offers;
  Kind of(offers, 1, true);
  const agree::Value value = decided(1, true, 1000, 500);
  const agree::Value* const news = of.turn(value, true).news;
  ASSERT_NE(news, nullptr);
  EXPECT_EQ(news->times.coded, 500);
  EXPECT_EQ(of.turn(value, true).news, nullptr);
}

TEST(Kind, OffersTheLargestGroup) {
  Offers offers;
  Kind of(offers, 1, true);
  for (const int calls : {2, 7, 3}) {
    for (int call = 0; call < calls; ++call) of.count_in_group();
    of.end_group();
  }
  of.measured(200, false);
  EXPECT_EQ(offers.made.back().span, 7);
}

}  // namespace
}  // namespace thinwire::nccl
