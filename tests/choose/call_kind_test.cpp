// Whether collectives of a kind are compressed, from what their calls took both ways.
#include "choose/call_kind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace thinwire::choose {
namespace {

constexpr Foreseen kGains{1e-3, 0.5e-3, true}, kLoses{1e-3, 10e-3, false};

// Calls of a program whose ranks are one, and how they went: r raw, c compressed, in capitals if
// timed.
class Stream {
 public:
  explicit Stream(bool once = false) : of_(once) {}

  std::string send(int calls, std::uint64_t raw, std::uint64_t coded, const Foreseen& foreseen) {
    std::string ways;
    for (int call = 0; call < calls; ++call) {
      if (of_.is_due()) decisions_ += of_.adopt(of_.own()) ? 1 : 0;
      const CallTurn turn = of_.next(foreseen);
      const char way = turn.is_coded ? 'c' : 'r';
      ways += turn.is_timed ? static_cast<char>(way - 'a' + 'A') : way;
      if (turn.is_timed) of_.took(turn.is_coded, turn.is_coded ? coded : raw);
    }
    return ways;
  }

  CallKind& of() { return of_; }
  int decisions() const { return decisions_; }

 private:
  CallKind of_;
  int decisions_ = 0;
};

std::size_t coded_in(const std::string& ways) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ways, [](char way) { return way == 'c' || way == 'C'; }));
}

TEST(CallKind, TimesBothWaysAndStaysWithTheFasterOne) {
  Stream gains, loses;
  EXPECT_EQ(gains.send(20, 1000, 500, kGains), "RCCRCRRCCRRCRCCRcccc");
  EXPECT_EQ(loses.send(20, 1000, 1100, kGains), "RCCRCRRCCRRCRCCRrrrr");
  EXPECT_TRUE(gains.of().codes());
  EXPECT_EQ(loses.of().times().raw, 1000);
  EXPECT_EQ(loses.of().times().coded, 1100);
}

// Short programs have few calls.
TEST(CallKind, AGainBeyondDoubtIsTakenAfterAFewCalls) {
  Stream gains, once(true), doubtful, slow_at_times;
  EXPECT_EQ(gains.send(11, 1000, 200, kGains), "RCCRccccccc");
  EXPECT_EQ(once.send(11, 1000, 200, kGains), "RCCRCRRCccc") << "for good";
  EXPECT_EQ(doubtful.send(20, 1000, 250, kGains), "RCCRCRRCCRRCRCCRcccc");
  EXPECT_TRUE(gains.of().codes());
  EXPECT_EQ(gains.of().times().raw, 1000);
  // A moment that was slow makes no gain.
  slow_at_times.send(1, 9000, 900, kGains);
  EXPECT_EQ(slow_at_times.send(19, 1000, 900, kGains), "CCRCRRCCRRCRCCRcccc");
}

// Two raw calls that something held up look like a gain by far, for a while; not for ever.
TEST(CallKind, TwoRawCallsThatWereHeldUpMisleadForShort) {
  for (const bool once : {false, true}) {
    Stream stream(once);
    std::string ways;
    for (int call = 0; call < 1000; ++call) {
      ways += stream.send(1, call == 0 || call == 3 ? 20'000 : 1000, 3000, kGains);
    }
    EXPECT_FALSE(stream.of().codes());
    EXPECT_LE(coded_in(ways), once ? 8u : 100u);
  }
}

// A link that is busy now and then: what is told is what calls took on average, but for the
// longest.
TEST(CallKind, TellsWhatCallsSavedOnAverage) {
  CallKind of(false);
  for (std::uint64_t call = 0; call < 16; ++call) {
    const CallTurn turn = of.next(kGains);
    of.took(turn.is_coded, turn.is_coded ? 500 : call == 0 ? 1000 : call == 15 ? 90000 : 2000);
    if (of.is_due()) of.adopt(of.own());
  }
  EXPECT_TRUE(of.codes());
  EXPECT_EQ(of.times().raw, 2000) << "the second least";
  EXPECT_EQ(of.saving(), (1000 + 6 * 2000) / 7 - 500);
}

TEST(CallKind, ARoundThatComesRoundIsSpread) {
  Stream stream;
  stream.send(16, 1000, 500, kGains);
  const std::string ways = stream.send(500, 1000, 500, kGains);
  EXPECT_EQ(ways.find('R') / 50, 400 / 50) << "a fiftieth of the time for the first finding";
  EXPECT_GT(ways.find_last_of('R') - ways.find('R'), 40);
  EXPECT_EQ(std::ranges::count(ways, 'R'), 8);
  EXPECT_EQ(stream.decisions(), 2);
  EXPECT_TRUE(stream.of().codes());
}

// The link is slow for a step of a program, wherever that falls: nothing changes.
TEST(CallKind, ALinkThatIsSlowForAWhileChangesNothing) {
  for (const bool gains : {true, false}) {
    const std::uint64_t raw = 1000, coded = gains ? 700 : 1300;
    for (int before = 0; before < 700; before += 3) {
      Stream stream;
      stream.send(17, raw, coded, kGains);
      stream.send(before, raw, coded, kGains);
      stream.send(14, 23 * raw / 10, 23 * coded / 10, kGains);
      stream.send(200, raw, coded, kGains);
      EXPECT_EQ(stream.of().codes(), gains) << before;
    }
  }
}

TEST(CallKind, GivesUpAtTwoCallsWhatLosesByFar) {
  Stream stream;
  EXPECT_EQ(stream.send(12, 1000, 5000, kGains), "RCCRrrrrrrrr");
  Stream lossy(true);
  EXPECT_EQ(lossy.send(12, 1000, 5000, kGains), "RCCRrrrrrrrr");
}

// Whatever compressed calls take: those cost less than a hundredth once the kind is decided.
TEST(CallKind, TriesWhatLosesAtABoundedRate) {
  for (const std::uint64_t coded : {960U, 1020U, 1500U, 3000U, 30'000U}) {
    Stream stream;
    stream.send(17, 1000, coded, kGains);
    const std::string ways = stream.send(100'000, 1000, coded, kGains);
    const double more = coded > 1000 ? static_cast<double>(coded - 1000) : 0;
    EXPECT_LE(static_cast<double>(coded_in(ways)) * more, 0.01 * 1000 * 100'000) << coded;
    EXPECT_GT(coded_in(ways), 0) << coded;
  }
}

TEST(CallKind, WhatIsForeseenToLoseIsTriedOnceRawOnesHavePaidForIt) {
  Stream stream;
  EXPECT_EQ(coded_in(stream.send(10'000, 1000, 500, kLoses)), 0);
  EXPECT_GT(coded_in(stream.send(5'000, 1000, 500, kLoses)), 0) << "ten times as long: 14400 calls";
  EXPECT_TRUE(stream.of().codes()) << "as timed, whatever is foreseen";
  Stream never;
  constexpr double kNotMeasured = std::numeric_limits<double>::infinity();
  EXPECT_EQ(coded_in(never.send(100'000, 1000, 500, {1e-3, kNotMeasured, false})), 0);
}

TEST(CallKind, DataThatNoLongerShrinksIsNoticed) {
  Stream stream;
  stream.send(1000, 1000, 500, kGains);
  const std::string ways = stream.send(200, 1000, 1300, kGains);
  EXPECT_LE(coded_in(ways), 2 * 48 + 8U);
  EXPECT_EQ(ways.back(), 'r') << ways;
}

TEST(CallKind, ASlowerLinkIsReasonToTimeAgain) {
  Stream stream;
  const Foreseen fast{1e-3, 0.9e-3, true}, slow{10e-3, 5e-3, true};
  stream.send(100, 1000, 2000, fast);
  EXPECT_FALSE(stream.of().codes());
  EXPECT_EQ(stream.send(20, 10'000, 6000, slow), "RCCRCRRCCRRCRCCRcccc");
  const Foreseen faster{0.1e-3, 0.5e-3, false};
  EXPECT_EQ(stream.send(20, 100, 600, faster), "CRRCRCCRRCCRCRRCrrrr");
}

TEST(CallKind, WhatIsDecidedOnceHolds) {
  Stream coded(true), raw(true);
  coded.send(16, 1000, 500, kGains);
  raw.send(16, 1000, 1500, kGains);
  EXPECT_EQ(coded_in(coded.send(10'000, 1000, 9000, kLoses)), 10'000);
  EXPECT_EQ(coded_in(raw.send(10'000, 9000, 100, kGains)), 0);
  EXPECT_EQ(coded.decisions(), 1);
  Stream waiting(true);
  EXPECT_EQ(coded_in(waiting.send(100'000, 1000, 500, kLoses)), 0) << "not for a try";
}

TEST(CallKind, CallsThatWaitForNobodyFollow) {
  CallKind fresh(false);
  EXPECT_TRUE(fresh.codes(kGains));
  EXPECT_FALSE(fresh.codes(kLoses));
  CallKind once(true);
  EXPECT_FALSE(once.codes(kLoses));
  EXPECT_TRUE(once.codes(kGains));
  EXPECT_TRUE(once.codes(kLoses)) << "as those before it";
  Stream stream;
  stream.send(17, 1000, 1500, kGains);
  EXPECT_FALSE(stream.of().codes(kGains));
}

// A rank that ends early, as a root, finds less than the others.
TEST(CallKind, OfTheRanksTheSlowestCounts) {
  CallKind root(false);
  for (int call = 0; call < 16; ++call) {
    if (root.is_due()) {
      EXPECT_FALSE(root.adopt({1000, 1200}));
    }
    const CallTurn turn = root.next(kGains);
    root.took(turn.is_coded, turn.is_coded ? 10 : 100);
  }
  ASSERT_TRUE(root.is_due());
  EXPECT_TRUE(root.adopt({1000, 1200}));
  EXPECT_FALSE(root.codes());
}

TEST(CallKind, RanksThatCannotAgreeStayRaw) {
  CallKind of(false);
  for (int call = 0; call < 17; ++call) {
    if (of.is_due()) of.adopt({});
    of.next(kGains);
  }
  EXPECT_TRUE(of.is_decided());
  EXPECT_FALSE(of.codes());
}

// Ranks that have the same but for what each has measured go on alike.
TEST(CallKind, FingerprintIsOfWhatAllRanksKnow) {
  Stream one, same, slower, earlier;
  one.send(20, 1000, 500, kGains);
  same.send(20, 1000, 500, kGains);
  slower.send(20, 1000, 600, kGains);
  earlier.send(19, 1000, 500, kGains);
  EXPECT_EQ(one.of().fingerprint(), same.of().fingerprint());
  EXPECT_NE(one.of().fingerprint(), slower.of().fingerprint());
  EXPECT_NE(one.of().fingerprint(), earlier.of().fingerprint());
  same.of().took(true, 400);
  EXPECT_EQ(one.of().fingerprint(), same.of().fingerprint());
}

}  // namespace
}  // namespace thinwire::choose
