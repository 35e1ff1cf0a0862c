// Ranks that die, abort or stop at each step, and strangers on the port.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "agree/limits.h"
#include "agree/loop.h"
#include "agree/puppet.h"

namespace {

using namespace job;

Options quick() {
  Options made;
  made.registration = made.connecting = 400ms;
  return made;
}

Options slow() {
  Options made;
  made.registration = made.connecting = 20s;
  return made;
}

// A job whose last rank is played by hand.
struct Played {
  explicit Played(int ranks, Options options = quick())
      : job(ranks - 1, options, ranks), id(job.make_id()), puppet(id, ranks) {
    for (Rank& each : job.all) job.open(each.rank, id);
  }
  // All offer, so that a round begins, which the puppet hears of.
  Ask begin_round(std::uint64_t key = 4) {
    for (Rank& each : job.all) each.comm->collectives().offer(key, {100, 0});
    puppet.parent.say(Offered{key, {100, 0}});
    return puppet.parent.hear_a_round().value();
  }
  std::vector<std::thread> hosts_at_the_limit(std::uint64_t key, Outcome outcome) {
    std::vector<std::thread> hosts;
    for (Rank& each : job.all) {
      // The round has come to every rank once none passes its limit.
      hosts.emplace_back([&each, key, outcome, this] {
        for (std::uint64_t call = 0;; ++call) {
          const Answer answer = each.comm->collectives().value(call, key);
          if (answer.outcome == Outcome::kKnown) {
            EXPECT_EQ(answer.value.capacity, 0);
            if (call > 200'000) std::this_thread::sleep_for(10us);
            continue;
          }
          EXPECT_EQ(answer.outcome, outcome);
          ++released;
          return;
        }
      });
    }
    return hosts;
  }

  Job job;
  Id id;
  Puppet puppet;
  std::atomic<int> released{0};
};

TEST(DyingRank, BeforeItHasRegistered) {
  Played played(4);
  played.puppet.registrar.end();
  EXPECT_TRUE(played.job.all_reach(State::kRaw));
  EXPECT_EQ(played.job.all[2].comm->membership().text, "raw: 1 of 4 ranks lacks it");
}

TEST(DyingRank, InTheMiddleOfItsGreeting) {
  Played played(4);
  const Bytes whole = played.puppet.registrar.sealed(played.puppet.registration());
  played.puppet.registrar.say_bytes(ByteView(whole).first(40));
  played.puppet.registrar.end();
  EXPECT_TRUE(played.job.all_reach(State::kRaw));
  EXPECT_EQ(played.job.all[1].comm->membership().text, "raw: 1 of 4 ranks lacks it");
}

TEST(DyingRank, OnceItHasRegistered) {
  Played played(3);
  played.puppet.registrar.say(played.puppet.registration());
  played.puppet.accept();  // and it is gone
  EXPECT_TRUE(
      eventually([&] { return played.job.all[0].comm->membership().state == State::kForming; }));
  played.puppet = Puppet(played.id, 3);  // nobody listens at the old place any more
  EXPECT_TRUE(played.job.all_reach(State::kRaw));
  EXPECT_NE(played.job.all[1].comm->membership().text.find("rank 2"), std::string::npos)
      << played.job.all[1].comm->membership().text;
}

// The first rank begins to wait later, so that it can tell nobody before the second has given up.
TEST(DyingRank, ThatSaysNothingAfterOthersHaveSaidThatTheyAreWhole) {
  Options options = quick();
  options.registration = 4s;
  Job job(2, options, 3);
  const Id id = job.make_id();
  Puppet puppet(id, 3);
  job.open(1, id);
  std::this_thread::sleep_for(2s);
  job.open(0, id);
  puppet.registrar.say(puppet.registration());
  puppet.parent = puppet.accept();
  ASSERT_TRUE(puppet.parent.hear_a<Table>());
  puppet.parent.say(Offered{4, {100, 0}});  // so that its connection counts as made
  EXPECT_EQ(job.all[1].comm->wait_until_known(), Outcome::kBroken);
  EXPECT_EQ(job.all[1].comm->state(), State::kRaw);
  EXPECT_EQ(job.all[0].comm->wait_until_known(), Outcome::kKnown);
  EXPECT_EQ(job.all[0].comm->state(), State::kRaw);
}

TEST(Registrar, TakesARankAgainWhoseConnectionHasEnded) {
  Played played(4, slow());
  played.puppet.registrar.say(played.puppet.registration());
  std::this_thread::sleep_for(50ms);
  played.puppet.registrar.end();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(played.job.all[1].comm->state(), State::kForming);
  played.puppet.registrar = played.puppet.come();
  played.puppet.join();
  EXPECT_TRUE(played.job.all_reach(State::kReady));
}

TEST(DyingRank, InTheTree) {
  for (const bool is_up : {false, true}) {
    Played played(6);  // the puppet is rank 5, below rank 1
    played.puppet.registrar.say(played.puppet.registration());
    played.puppet.parent = played.puppet.accept();
    ASSERT_TRUE(played.puppet.parent.hear_a<Table>());
    if (is_up) {
      played.puppet.parent.say(Up{true, ""});
      ASSERT_TRUE(played.puppet.parent.hear_a<Ready>());
      ASSERT_TRUE(played.job.all_reach(State::kReady));
    } else {
      played.puppet.parent.say(Up{false, "raw: rank 5 does not want to"});
    }
    played.puppet.die();
    ASSERT_TRUE(played.job.all_reach(is_up ? State::kBroken : State::kRaw));
    for (const Rank& each : played.job.all)
      EXPECT_EQ(each.comm->wait_until_known(), Outcome::kKnown);
    EXPECT_EQ(
        played.job.all[4].comm->membership().text,
        is_up ? "all 6 ranks had it, until rank 5 has ended" : "raw: rank 5 does not want to");
    EXPECT_EQ(played.job.all[0].comm->collectives().value(7, 1).outcome, Outcome::kKnown);
  }
}

TEST(DyingRank, ThatWasAskedReleasesWhoeverWaits) {
  Played played(6);
  played.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  played.begin_round();
  auto hosts = played.hosts_at_the_limit(4, Outcome::kBroken);
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(played.released, 0);
  played.puppet.die();
  for (std::thread& host : hosts) host.join();
  // Other kinds keep what they had.
  EXPECT_EQ(played.job.all[0].comm->collectives().value(1'000'000, 5).outcome, Outcome::kKnown);
}

bool both_agree(Channel& sends, Channel& receives, std::uint64_t key, std::uint64_t first) {
  sends.offer(key, {100, 0});
  receives.offer(key, {0, 0});
  std::uint64_t call = first;
  return eventually([&] {
    const Answer sent = sends.value(call, key), received = receives.value(call, key);
    ++call;
    return sent.outcome == Outcome::kKnown && received.outcome == Outcome::kKnown &&
           sent.value.capacity != 0 && received.value.capacity != 0;
  });
}

// The puppet is rank 6, a child of rank 1: messages of the two others go on, also between those
// whose way in the tree it is not, and those that are new.
TEST(DyingRank, LeavesMessagesBetweenOthers) {
  Played played(7);
  played.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  const auto of = [&](int rank) { return played.job.all[static_cast<std::size_t>(rank)].comm; };
  ASSERT_TRUE(both_agree(of(1)->to(2), of(2)->from(1), 7, 0));
  Channel& to_puppet = of(2)->to(6);
  played.puppet.die();
  ASSERT_TRUE(played.job.all_reach(State::kBroken));
  const Answer answer = of(1)->to(2).value(5000, 7);
  EXPECT_EQ(answer.outcome, Outcome::kKnown);
  EXPECT_NE(answer.value.capacity, 0);
  EXPECT_TRUE(both_agree(of(1)->to(2), of(2)->from(1), 8, 6000));
  EXPECT_TRUE(both_agree(of(5)->to(0), of(0)->from(5), 9, 0)) << "a pair that is new";
  const std::vector<std::byte> bytes(900'001, std::byte{3});
  of(1)->give({1, true, 6000, 0}, 2, bytes.size(), bytes);
  std::vector<std::byte> got(bytes.size());
  for (std::size_t at = 0; at < got.size();) {
    const Taken taken = of(2)->take({1, true, 6000, 0}, std::span(got).subspan(at), 20s);
    ASSERT_EQ(taken.outcome, Outcome::kKnown);
    ASSERT_GT(taken.bytes, 0);
    at += taken.bytes;
  }
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(of(2)->take({5, false, 1, 0}, got, 5s).outcome, Outcome::kBroken) << "a collective's";
  // A pair with the dead rank had agreed on nothing.
  to_puppet.offer(7, {100, 0});
  EXPECT_EQ(to_puppet.value(1, 7).outcome, Outcome::kKnown);
}

// A sender that dies: whoever waits for its message hears of it, and other messages go on.
TEST(DyingRank, EndsItsOwnMessages) {
  Played played(4);
  played.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  const auto of = [&](int rank) { return played.job.all[static_cast<std::size_t>(rank)].comm; };
  Wire pair = Wire::to(played.puppet.address_of_rank(2), played.puppet.as(2));
  pair.say(Pair{});
  ASSERT_TRUE(pair.hear_a<Took>());
  Channel& receives = of(2)->from(3);
  receives.offer(7, {0, 0});
  ASSERT_TRUE(pair.hear_a<Offered>());
  pair.say(Ask{7, 1, true, false});
  const auto limit = pair.hear_a<Limit>();
  ASSERT_TRUE(limit);
  ASSERT_TRUE(both_agree(of(1)->to(2), of(2)->from(1), 7, 0));
  std::thread waits([&] {
    EXPECT_EQ(receives.value(limit->limit, 7).outcome, Outcome::kBroken);
    std::byte into[4];
    EXPECT_EQ(of(2)->take({3, true, 0, 0}, into, 20s).outcome, Outcome::kBroken);
  });
  std::this_thread::sleep_for(30ms);
  pair.end();
  played.puppet.die();
  waits.join();
  EXPECT_TRUE(both_agree(of(1)->to(2), of(2)->from(1), 8, 6000));
}

TEST(DyingRank, AfterACommitFailsCodedCallsAlone) {
  Played played(3);
  played.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  const Ask ask = played.begin_round();
  played.puppet.parent.say(Limit{4, ask.round, 5000});
  const auto commit = played.puppet.parent.hear_a<Commit>();
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->from, 5000);
  Channel& channel = played.job.all[1].comm->collectives();
  ASSERT_TRUE(eventually([&] { return channel.value(5000, 4).value == commit->value; }));
  played.puppet.die();
  ASSERT_TRUE(played.job.all_reach(State::kBroken));
  EXPECT_EQ(channel.value(5001, 4).outcome, Outcome::kBroken);
  EXPECT_EQ(channel.value(5002, 3).outcome, Outcome::kKnown);
}

TEST(Abort, FromAnotherThreadReleasesAllRanks) {
  Played played(5);
  played.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  played.begin_round();
  std::atomic<int> ended{0};
  std::vector<std::thread> hosts;
  for (Rank& each : played.job.all) {
    hosts.emplace_back([&, rank = each.rank] {
      Channel& channel = each.comm->collectives();
      Answer answer;
      for (std::uint64_t call = 0; answer.outcome == Outcome::kKnown; ++call) {
        answer = channel.value(call, 4);
        if (call > 200'000) std::this_thread::sleep_for(10us);
      }
      EXPECT_EQ(answer.outcome, rank == 2 ? Outcome::kAborted : Outcome::kBroken);
      ++ended;
    });
  }
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(ended, 0);
  const auto begin = std::chrono::steady_clock::now();
  played.job.all[2].comm->abort();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 100ms);
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(played.job.all[3].comm->membership().text,
            "all 5 ranks had it, until rank 2 has aborted it");
}

TEST(Abort, WhileTheRanksMeet) {
  Played played(4);
  played.job.all[1].comm->abort();
  EXPECT_TRUE(played.job.all_reach(State::kRaw));
}

TEST(Settings, OfAnotherVersionAreNamed) {
  Played played(3);
  Introduction as = played.puppet.as(3);
  as.head.version = 41;
  played.puppet.registrar = Wire::to(played.puppet.stamp().registrar, as);
  played.puppet.registrar.say_bytes(Bytes(300, std::byte{0}));  // whatever that version has there
  const auto decision = played.puppet.registrar.hear_a<Decision>();
  ASSERT_TRUE(decision);
  EXPECT_FALSE(decision->ready);
  ASSERT_TRUE(played.job.all_reach(State::kRaw));
  EXPECT_NE(decision->text.find("version"), std::string::npos) << decision->text;
}

// Without memory a helper ends, and the program goes on.
TEST(Helper, ThatFailsEndsAlone) {
  std::atomic<int> failed{0};
  Loop loop([&] { ++failed; });
  ASSERT_TRUE(loop.post([] { throw std::bad_alloc(); }));
  ASSERT_TRUE(eventually([&] { return failed == 1; }));
  EXPECT_FALSE(loop.lives());
  EXPECT_FALSE(loop.post([] {}));
}

TEST(SlowRank, IsUnderstoodByteByByte) {
  Played played(3, slow());
  const Bytes whole = played.puppet.registrar.sealed(played.puppet.registration());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    played.puppet.registrar.say_bytes(ByteView(whole).subspan(at, 1));
    if (at % 8 == 0) std::this_thread::sleep_for(1ms);
  }
  played.puppet.parent = played.puppet.accept();
  ASSERT_TRUE(played.puppet.parent.hear_a<Table>());
  Bytes both = played.puppet.parent.sealed(Up{true, ""});
  const Bytes more = played.puppet.parent.sealed(Offered{4, {100, 0}});
  both.insert(both.end(), more.begin(), more.end());  // and two at once
  played.puppet.parent.say_bytes(both);
  EXPECT_TRUE(played.job.all_reach(State::kReady));
}

// ---- strangers: nobody answers them, and the job goes on ----

class Strangers : public testing::Test {
 protected:
  Strangers() : played_(5, slow()) {}

  Address registrar() const { return played_.puppet.stamp().registrar; }
  void expect_a_sound_job() {
    // If too many strangers are connected, a rank may have to come again.
    played_.puppet.registrar = played_.puppet.come();
    played_.puppet.join();
    EXPECT_TRUE(played_.job.all_reach(State::kReady));
    const Ask ask = played_.begin_round();
    played_.puppet.parent.say(Limit{4, ask.round, 300});
    EXPECT_TRUE(played_.puppet.parent.hear_a<Commit>());
  }

  Played played_;
};

TEST_F(Strangers, SilentOnes) {
  std::vector<Wire> silent;
  for (int i = 0; i < 400; ++i) silent.push_back(Wire::to(registrar()));
  expect_a_sound_job();
  EXPECT_TRUE(silent.front().is_shut());  // there are too many
  EXPECT_TRUE(silent.back().is_shut());   // after its time
}

TEST_F(Strangers, OnesThatSayAnything) {
  std::mt19937 random(5);
  std::vector<Wire> wires;
  for (int i = 0; i < 200; ++i) {
    Wire wire = Wire::to(registrar());
    Bytes bytes(random() % 3000);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    wire.say_bytes(bytes);
    wires.push_back(std::move(wire));
  }
  expect_a_sound_job();
}

TEST_F(Strangers, OnesThatClaimMuch) {
  Wire wire = Wire::to(registrar());
  const std::uint32_t length = 0xFFFFFFF0;
  wire.say_bytes(std::as_bytes(std::span(&length, 1)));
  EXPECT_TRUE(wire.is_shut());
  expect_a_sound_job();
}

// With the secret, but nothing that would fit.
TEST(BadRank, BreaksItsCommunicatorAlone) {
  Played played(3), other(3);
  played.puppet.join();
  other.puppet.join();
  ASSERT_TRUE(played.job.all_reach(State::kReady));
  ASSERT_TRUE(other.job.all_reach(State::kReady));
  played.puppet.parent.say(Limit{9, 9, 9});
  EXPECT_TRUE(played.job.all_reach(State::kBroken));
  EXPECT_TRUE(other.job.all_reach(State::kReady));
}

}  // namespace
