// The two phases without sockets and threads: hosts and messages of a tree of ranks take their
// steps in an order that a seed says, thousands of times over.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "agree/limits.h"
#include "agree/round.h"
#include "agree/tree.h"

namespace {

using namespace thinwire::nccl::agree;

constexpr std::uint64_t kClasses = 3;
std::uint64_t key_of(std::uint64_t call) { return call * call % kClasses; }

class Simulated {
 public:
  Simulated(int ranks, unsigned seed) : ranks_(ranks), random_(seed), hosts_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      Host& host = hosts_[rank];
      host.speed = std::uniform_int_distribution<>(1, 400)(random_);
      host.rounds.start(way_of(rank));
    }
  }

  // Until every host has made so many calls.
  void run(std::uint64_t calls) {
    for (bool done = false; !done;) {
      const int rank = std::uniform_int_distribution<>(0, ranks_ - 1)(random_);
      step(rank, calls);
      if (random_() % 4 != 0) deliver();
      done = std::ranges::all_of(hosts_,
                                 [&](const Host& each) { return each.values.size() >= calls; });
      // A host that waits needs the helpers alone.
      if (random_() % 64 == 0) {
        while (deliver()) {
        }
        for (Host& each : hosts_) {
          ASSERT_FALSE(each.ledger.waits(each.values.size(), key_of(each.values.size())));
        }
      }
    }
  }

  const std::vector<Value>& values(int rank) const { return hosts_[rank].values; }
  int coded() const {
    return static_cast<int>(std::ranges::count_if(
        hosts_[0].values, [](const Value& each) { return each.capacity != 0; }));
  }

 private:
  struct Host {
    Gate gate;
    Ledger ledger{gate};
    Rounds rounds{ledger};
    int speed = 1;
    std::vector<Value> values;
  };

  Rounds::Way way_of(int rank) {
    Rounds::Way way;
    if (rank != 0) {
      way.up = [=, this](const Message& message) {
        on_the_way_[{rank, parent_of(rank)}].push_back(message);
      };
    }
    way.down = [=, this](const Message& message) {
      for (int child = 0; child < children_of(rank, ranks_); ++child) {
        on_the_way_[{rank, first_child(rank) + child}].push_back(message);
      }
    };
    way.children = children_of(rank, ranks_);
    return way;
  }

  void step(int rank, std::uint64_t calls) {
    Host& host = hosts_[rank];
    for (int times = 0; times < host.speed && host.values.size() < calls; ++times) {
      const std::uint64_t call = host.values.size();
      if (host.ledger.waits(call, key_of(call))) return;
      host.values.push_back(host.ledger.value(call, key_of(call)).value);
      if (random_() % 100 == 0) {
        const Value& seen = host.values.back();
        const Offer offer{
            static_cast<std::uint16_t>(random_() % 600),
            static_cast<std::uint16_t>(random_() % 10 == 0),
            static_cast<std::uint16_t>(seen.decided + random_() % 2),
            static_cast<std::uint16_t>(random_() % 40),
            // Somebody may have said nothing of it yet.
            static_cast<std::uint16_t>(seen.timing_round - random_() % 2 * (seen.timing_round > 0)),
            random_() % 1000, random_() % 1000, random_() % 1000, random_() % 1000};
        host.rounds.offer(key_of(call), offer);
      }
    }
  }

  bool deliver() {
    std::erase_if(on_the_way_, [](const auto& each) { return each.second.empty(); });
    if (on_the_way_.empty()) return false;
    auto chosen = on_the_way_.begin();
    std::advance(chosen, random_() % on_the_way_.size());
    const auto [from, to] = chosen->first;
    const Message message = chosen->second.front();
    chosen->second.pop_front();
    take(from, to, message);
    return true;
  }

  void take(int from, int to, const Message& message) {
    Rounds& rounds = hosts_[to].rounds;
    bool fits = false;
    if (const auto* offered = std::get_if<Offered>(&message)) {
      fits = rounds.take(from - first_child(to), *offered);
    } else if (const auto* ask = std::get_if<Ask>(&message)) {
      fits = rounds.take(*ask);
    } else if (const auto* limit = std::get_if<Limit>(&message)) {
      fits = rounds.take(from - first_child(to), *limit);
    } else if (const auto* commit = std::get_if<Commit>(&message)) {
      fits = rounds.take(*commit);
    }
    EXPECT_TRUE(fits);
  }

  const int ranks_;
  std::mt19937 random_;
  std::deque<Host> hosts_;
  std::map<std::pair<int, int>, std::deque<Message>> on_the_way_;
};

TEST(Rounds, EveryCallHasOneValueOnAllRanks) {
  int coded = 0, changes = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 17);
    Simulated simulated(ranks, seed);
    simulated.run(4000);
    if (HasFatalFailure()) return;
    for (int rank = 1; rank < ranks; ++rank) {
      ASSERT_EQ(simulated.values(rank), simulated.values(0)) << "seed " << seed << " rank " << rank;
    }
    coded += simulated.coded();
    std::map<std::uint64_t, Value> last;
    for (std::uint64_t call = 0; call < 4000; ++call) {
      const Value value = simulated.values(0)[call];
      const auto [found, added] = last.try_emplace(key_of(call), value);
      if (!added && !(std::exchange(found->second, value) == value)) ++changes;
    }
  }
  // It is not that nothing was agreed.
  EXPECT_GT(coded, 10'000);
  EXPECT_GT(changes, 900);
}

TEST(Rounds, WhatDoesNotFitIsRefused) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  EXPECT_FALSE(rounds.take(Ask{1, 1, false})) << "not begun";
  std::vector<Message> said;
  const auto say = [&](const Message& message) { said.push_back(message); };
  rounds.start({say, say, 0});
  EXPECT_FALSE(rounds.take(Commit{1, 1, 300, {100, 0}})) << "nobody asked";
  EXPECT_FALSE(rounds.take(0, Offered{1, {}})) << "no child";
  EXPECT_TRUE(rounds.take(Ask{1, 1, false}));
  EXPECT_FALSE(rounds.take(Ask{1, 2, false})) << "the first is not over";
  EXPECT_FALSE(rounds.take(0, Limit{1, 1, 9})) << "no child";
  EXPECT_FALSE(rounds.take(Commit{1, 1, kWindow - 1, {100, 0}})) << "before the limit";
  EXPECT_FALSE(rounds.take(Commit{1, 2, kWindow, {100, 0}})) << "another round";
  for (const Value& impossible :
       {Value{497, 0}, Value{513, 0}, Value{0xFFFF, 0}, Value{100, kNotSmaller}, Value{0, 0},
        Value{0, kUndecided}, Value{100, 0, 1, 2, 8}, Value{100, 0, 3, 1, 8},
        Value{100, 0, 1, 0, 0}, Value{100, 0, 1, 0, 1025}}) {
    EXPECT_FALSE(rounds.take(Commit{1, 1, kWindow, impossible})) << "no rank decides that";
  }
  EXPECT_TRUE(rounds.take(Commit{1, 1, kWindow, {100, 0}}));
  EXPECT_FALSE(rounds.take(Ask{1, 1, false})) << "again";
  EXPECT_FALSE(rounds.take(Ask{1, 1, false, true})) << "of the past";
  ASSERT_EQ(said.size(), 3);  // Ask to nobody's children, a Limit, a Commit likewise
  EXPECT_EQ(ledger.value(kWindow - 1, 1).value.capacity, 0);
  EXPECT_EQ(ledger.value(kWindow, 1).value.capacity, 100);
}

TEST(Rounds, OthersMakeSoManyClasses) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger, 4};
  const auto say = [](const Message&) {};
  rounds.start({say, say, 1});
  for (std::uint64_t key = 0; key < 3; ++key) EXPECT_TRUE(rounds.take(0, Offered{key, {}}));
  EXPECT_TRUE(rounds.take(Ask{3, 1, false}));
  EXPECT_FALSE(rounds.take(0, Offered{4, {}}));
  EXPECT_FALSE(rounds.take(Ask{5, 1, false}));
  EXPECT_TRUE(rounds.take(0, Offered{2, {}})) << "one that is there";
}

TEST(Rounds, AHostThatStandsStillIsLeftSoManyValues) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  const auto say = [](const Message&) {};
  rounds.start({say, say, 0});
  const auto commit = [&](std::uint64_t round) {
    return rounds.take(Ask{1, round, false}) &&
           rounds.take(Commit{1, round, 100'000 + round, {100, 0}});
  };
  std::uint64_t round = 1;
  while (round < 10 * kMostSteps && commit(round)) ++round;
  EXPECT_EQ(round, kMostSteps + 1);
  EXPECT_EQ(ledger.steps(1), kMostSteps);
  rounds.stop();  // the round that was refused holds nobody
  ledger.confirm(200'000);
  EXPECT_EQ(ledger.value(100'000, 1).value.capacity, 0) << "before the first";
  EXPECT_LE(ledger.steps(1), 1);
}

TEST(Rounds, WhatDoesNotFitIsRaisedAtTheNextCall) {
  for (const std::uint16_t needed : {300, 513}) {
    Gate gate;
    Ledger ledger{gate};
    Rounds rounds{ledger};
    std::vector<bool> urgent;
    const auto say = [&](const Message& message) {
      const auto* const ask = std::get_if<Ask>(&message);
      if (ask != nullptr && !ask->looks) urgent.push_back(ask->is_urgent);
    };
    rounds.start({nullptr, say, 0});
    rounds.offer(1, {.needed = 200});
    EXPECT_EQ(ledger.value(kWindow - 1, 1).value.capacity, 0);
    EXPECT_EQ(ledger.value(kWindow, 1).value.capacity, 207);
    rounds.offer(1, {.needed = needed});
    EXPECT_EQ(ledger.value(kWindow, 1).value.capacity, 207) << "it has come to this one";
    EXPECT_NE(ledger.value(kWindow + kUrgentWindow, 1).value.capacity, 207);
    EXPECT_EQ(urgent, (std::vector<bool>{false, true}));
  }
}

// A round has begun that changes little, when a block is found not to fit.
TEST(Rounds, WhatBecomesUrgentHasARoundOfItsOwn) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  std::vector<Message> said;
  rounds.start({nullptr, [&](const Message& message) { said.push_back(message); }, 1});
  rounds.offer(1, {.needed = 200});
  EXPECT_TRUE(rounds.take(0, Offered{1, {.needed = 200}}));
  EXPECT_TRUE(rounds.take(0, Limit{1, 1, 0}));
  EXPECT_TRUE(rounds.take(0, Limit{1, 2, kWindow}));
  rounds.offer(1, {.needed = 200, .asks = 1});
  EXPECT_TRUE(rounds.take(0, Limit{1, 3, 0}));
  EXPECT_TRUE(rounds.take(0, Offered{1, {.needed = 400, .asks = 1}}));
  EXPECT_TRUE(rounds.take(0, Limit{1, 4, kWindow}));
  ASSERT_EQ(said.size(), 7) << "two rounds, each with a look, and a third one's Ask";
  EXPECT_TRUE(std::get<Ask>(said.back()).is_urgent);
  EXPECT_TRUE(rounds.take(0, Limit{1, 5, kUrgentWindow}));
  EXPECT_GT(std::get<Commit>(said.back()).value.capacity, 400);
  EXPECT_EQ(std::get<Commit>(said.back()).from, kUrgentWindow);
}

// The other one of two ranks is not heard: no host waits for a round that is not urgent.
TEST(Rounds, HoldNobodyWhileARankIsNotHeard) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  std::vector<Ask> asked;
  const auto note = [&](const Message& message) {
    if (const auto* ask = std::get_if<Ask>(&message)) asked.push_back(*ask);
  };
  rounds.start({nullptr, note, 1});
  rounds.offer(1, {.needed = 200});
  EXPECT_TRUE(rounds.take(0, Offered{1, {.needed = 200}}));
  ASSERT_EQ(asked.size(), 1);
  EXPECT_TRUE(asked[0].looks);
  EXPECT_FALSE(ledger.waits(1'000'000, 1));
  EXPECT_TRUE(rounds.take(0, Limit{1, 1, 0}));
  ASSERT_EQ(asked.size(), 2);
  EXPECT_FALSE(asked[1].looks);
  EXPECT_TRUE(ledger.waits(kWindow, 1)) << "it has been heard";
  EXPECT_TRUE(rounds.take(0, Limit{1, 2, kWindow}));
  EXPECT_EQ(ledger.value(kWindow, 1).value.capacity, 207);
}

TEST(Rounds, WhatIsUrgentWaitsForNoLook) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  std::vector<Message> said;
  rounds.start({nullptr, [&](const Message& message) { said.push_back(message); }, 1});
  rounds.offer(1, {.needed = 200});
  EXPECT_TRUE(rounds.take(0, Offered{1, {.needed = 200}}));
  EXPECT_TRUE(rounds.take(0, Limit{1, 1, 0}));
  EXPECT_TRUE(rounds.take(0, Limit{1, 2, kWindow}));
  rounds.offer(1, {.needed = 200, .asks = 1});
  ASSERT_TRUE(std::get<Ask>(said.back()).looks);
  rounds.offer(1, {.needed = 400, .asks = 1});
  ASSERT_TRUE(std::get<Ask>(said.back()).is_urgent);
  EXPECT_TRUE(rounds.take(0, Limit{1, 3, 0})) << "of the look";
  EXPECT_TRUE(rounds.take(0, Limit{1, 4, 500}));
  EXPECT_EQ(std::get<Commit>(said.back()).from, 500);
}

// A rank between root and leaf hears that the root has given a look up.
TEST(Rounds, ALookIsGivenUpOnTheWay) {
  Gate gate;
  Ledger ledger{gate};
  Rounds rounds{ledger};
  std::vector<Message> up;
  const auto nothing = [](const Message&) {};
  rounds.start({[&](const Message& message) { up.push_back(message); }, nothing, 1});
  EXPECT_TRUE(rounds.take(Ask{1, 1, false, true}));
  EXPECT_TRUE(rounds.take(Ask{1, 2, true}));
  EXPECT_FALSE(rounds.take(Ask{1, 3, false, true})) << "the round is not over";
  EXPECT_TRUE(rounds.take(0, Limit{1, 1, 0}));
  EXPECT_TRUE(up.empty());
  EXPECT_TRUE(rounds.take(0, Limit{1, 2, 7}));
  ASSERT_EQ(up.size(), 1);
  EXPECT_EQ(std::get<Limit>(up[0]).limit, 7);
  EXPECT_TRUE(rounds.take(Commit{1, 2, 7, {100, 0}}));
}

// Who joins what siblings offer goes while a first round holds the ranks.
TEST(Rounds, WhatSiblingsNoLongerDecideIsLetGo) {
  constexpr std::uint64_t kKey = kJoined | 1;
  Gate gate;
  Ledger ledger{gate}, below{gate};
  Rounds root{ledger}, child{below};
  std::vector<Message> joined;
  root.start({nullptr,
              [&](const Message& message) {
                if (const auto* ask = std::get_if<Ask>(&message)) {
                  EXPECT_TRUE(child.take(*ask));
                }
                if (const auto* commit = std::get_if<Commit>(&message)) {
                  EXPECT_TRUE(child.take(*commit));
                }
              },
              1});
  child.start({[](const Message&) {}, [](const Message&) {}, 0});
  root.offer(kKey, {.needed = 200});
  EXPECT_TRUE(root.take(0, Offered{kKey, {.needed = 300}}));
  EXPECT_FALSE(root.take(Ask{kKey, 1, false})) << "it knows no siblings";
  root.join([&](const Message& message) { joined.push_back(message); });
  ASSERT_EQ(joined.size(), 1);
  EXPECT_EQ(std::get<Offered>(joined[0]).offer.needed, 300);
  EXPECT_TRUE(root.take(Ask{kKey, 1, false}));
  EXPECT_TRUE(ledger.waits(kWindow, kKey));
  EXPECT_TRUE(below.waits(kWindow, kKey));
  root.part();
  EXPECT_TRUE(ledger.waits(kWindow, kKey)) << "the child has not answered";
  EXPECT_TRUE(root.take(0, Limit{kKey, 1, kWindow}));
  EXPECT_FALSE(ledger.waits(kWindow, kKey));
  EXPECT_FALSE(below.waits(kWindow, kKey));
  EXPECT_EQ(ledger.value(kWindow, kKey).value.capacity, 0);
}

TEST(Ledger, KeepsTheValuesThatAreStillAskedForAlone) {
  Gate gate;
  Ledger ledger{gate};
  std::uint64_t call = 0;
  for (std::uint16_t change = 1; change <= 1000; ++change) {
    const std::uint64_t from = ledger.freeze(1, kWindow);
    ledger.commit(1, from, {change, 0});
    for (; call < from; ++call) {
      ledger.confirm(call);
      ASSERT_EQ(ledger.value(call, 1).value.capacity, change - 1);
    }
    ASSERT_LE(ledger.steps(1), 3);
  }
  EXPECT_EQ(ledger.value(call, 1).value.capacity, 1000);
}

// A group that is only simulated asks for numbers that come again.
TEST(Ledger, KeepsTheValuesOfNumbersThatMayComeAgain) {
  Gate gate;
  Ledger ledger{gate};
  constexpr std::uint16_t kChanges = 50;
  std::vector<std::uint64_t> firsts;
  for (std::uint16_t change = 1; change <= kChanges; ++change) {
    firsts.push_back(ledger.freeze(1, kWindow));
    ledger.commit(1, firsts.back(), {change, 0});
    ledger.value(firsts.back(), 1);
  }
  for (std::uint16_t change = 1; change <= kChanges; ++change) {
    const std::uint64_t first = firsts[change - 1U];
    EXPECT_EQ(ledger.value(first - 1, 1).value.capacity, change - 1);
    EXPECT_EQ(ledger.value(first, 1).value.capacity, change);
  }
  EXPECT_EQ(ledger.steps(1), kChanges);
}

const Value kFirst{0, kUndecided};

TEST(Decide, IsAboutTheLargestNeedAndAnyVeto) {
  EXPECT_EQ(decide(kFirst, {320, 0}).capacity, 331);
  EXPECT_EQ(decide(kFirst, {320, 7}), (Value{0, 7}));
  EXPECT_EQ(decide(kFirst, {500, 0}), (Value{0, kNotSmaller}));
  EXPECT_EQ(decide(kFirst, {65535, 0}), (Value{0, kNotSmaller}));
  for (unsigned needed = 0; needed < 600; ++needed) {
    const Value value = decide(kFirst, {static_cast<std::uint16_t>(needed), 0});
    if (value.capacity != 0) {
      EXPECT_GT(value.capacity, needed);
    }
  }
}

TEST(Decide, WithoutATimingRoundWhatFitsIsCoded) {
  const Value value = decide(kFirst, {320, 0});
  EXPECT_TRUE(value.codes);
  EXPECT_EQ(value.timing_round, 0);
}

TEST(Decide, ATimingRoundIsDecidedOnceAllHaveTimedIt) {
  Value value = decide(kFirst, {.needed = 320, .asks = 1, .span = 5});
  EXPECT_EQ(std::tuple(value.timing_round, value.decided, value.calls, value.codes),
            std::tuple(1, 0, 15, false));
  Offer all{.needed = 320, .asks = 1, .timed = 0, .times = {.raw = 1000, .coded = 500}};
  EXPECT_EQ(decide(value, all), value);
  all.timed = 1;
  value = decide(value, all);
  EXPECT_EQ(std::tuple(value.decided, value.codes, value.times.raw, value.times.coded),
            std::tuple(1, true, 1000, 500));
  EXPECT_EQ(decide(value, all), value) << "for good, until somebody asks";
  all.asks = 2;
  value = decide(value, all);
  EXPECT_EQ(std::tuple(value.timing_round, value.decided, value.codes), std::tuple(2, 1, true));
  // It goes on as it was until it loses.
  all.timed = 2;
  all.times.coded = 1001;
  EXPECT_FALSE(decide(value, all).codes);
  all.times.coded = 1000;
  EXPECT_TRUE(decide(value, all).codes);
}

TEST(Decide, WhatDoesNotFitForAWhileKeepsItsTimingRound) {
  const Offer fits{.needed = 320, .asks = 1};
  const Value under_way = decide(kFirst, fits);
  const Value raw = decide(under_way, {.needed = 513, .asks = 1});
  EXPECT_EQ(std::tuple(raw.capacity, raw.reason), std::tuple(0, kNotSmaller));
  EXPECT_EQ(decide(raw, fits), under_way);
}

TEST(Shape, IsATree) {
  for (int ranks = 1; ranks < 400; ++ranks) {
    int children = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      int below = 0;
      for (int other = 0; other < ranks; ++other) below += is_below(rank, other);
      ASSERT_EQ(ranks_below(rank, ranks), below);
      for (int child = 0; child < children_of(rank, ranks); ++child, ++children) {
        ASSERT_EQ(parent_of(first_child(rank) + child), rank);
        ASSERT_EQ(way_to(rank, first_child(rank) + child), child);
      }
    }
    ASSERT_EQ(children, ranks - 1);
  }
  EXPECT_EQ(ranks_below(0, INT32_MAX), INT32_MAX);
  EXPECT_EQ(children_of(INT32_MAX - 1, INT32_MAX), 0);
}

}  // namespace
