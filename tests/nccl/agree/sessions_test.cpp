// Connections that end while everybody lives.
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <atomic>

#include "agree/outbox.h"
#include "agree/puppet.h"
#include "agree/session.h"
#include "agree/socket.h"

namespace {

using namespace job;

SharedBytes message(int number) {
  return std::make_shared<const Bytes>(1, static_cast<std::byte>(number));
}

int write_one(Outbox& out) {
  const int number = std::to_integer<int>(out.next()->front());
  out.written();
  return number;
}

TEST(Outbox, SaysAgainWhatWasNotTaken) {
  Outbox out;
  out.keep();
  for (int number = 0; number < 4; ++number) out.put(message(number));
  out.put_part(message(8));
  for (int number = 0; number < 3; ++number) EXPECT_EQ(write_one(out), number);
  EXPECT_FALSE(out.took(4)) << "more than was written";
  EXPECT_TRUE(out.took(1));
  EXPECT_FALSE(out.took(0)) << "less than before";
  out.next();  // half written
  EXPECT_TRUE(out.rewind(2));
  for (const int number : {2, 3, 8}) EXPECT_EQ(write_one(out), number);
  EXPECT_FALSE(out.has_unsent());
  EXPECT_FALSE(out.is_empty());
  EXPECT_TRUE(out.took(5));
  EXPECT_TRUE(out.is_empty());
}

TEST(Outbox, CountsWhatItHas) {
  Outbox out;
  out.keep();
  out.put(std::make_shared<const Bytes>(1000));
  out.put_part(std::make_shared<const Bytes>(5000));
  EXPECT_GE(out.bytes(), 6000);
  out.next();
  out.written();
  EXPECT_GE(out.bytes(), 6000) << "until it is taken";
  EXPECT_TRUE(out.took(1));
  EXPECT_LT(out.bytes(), 6000);
  out.next();
  out.written();
  EXPECT_TRUE(out.took(2));
  EXPECT_EQ(out.bytes(), 0);
}

// A neighbour that listens and takes nothing.
TEST(Session, KeepsSoMuchForTheOtherSide) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Wire listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listening.fd(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ASSERT_EQ(::listen(listening.fd(), 8), 0);
  socklen_t length = sizeof any;
  ::getsockname(listening.fd(), reinterpret_cast<sockaddr*>(&any), &length);
  const Address where = *address_of(std::as_bytes(std::span(&any, 1)));

  Loop loop([] {});
  std::atomic<int> lost{0}, sent{0};
  std::unique_ptr<Session> session;
  ASSERT_TRUE(loop.post([&] {
    Session::Told told;
    told.message = [](Message&&) {};
    told.waits = [](const std::string&) {};
    told.lost = [&](const std::string& why) {
      EXPECT_NE(why.find("more than a quarter of the memory waits"), std::string::npos) << why;
      ++lost;
    };
    session = std::make_unique<Session>(
        loop, Session::Ends{random_secret(), 0, 1, false, true, 10s, 10s, 1U << 20},
        std::move(told));
    session->connect(where, Join{});
    session->hold();
    for (; sent < 15; ++sent) session->send_part(std::make_shared<const Bytes>(65536));
  }));
  EXPECT_TRUE(eventually([&] { return sent == 15; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(lost, 0);
  ASSERT_TRUE(loop.post([&] { session->send_part(std::make_shared<const Bytes>(131072)); }));
  EXPECT_TRUE(eventually([&] { return lost == 1; }, 5s));
  ASSERT_TRUE(loop.post([&] { session.reset(); }));
  loop.stop();
  loop.join();
  EXPECT_EQ(lost, 1);
}

TEST(Outbox, KeepsNothingForAConnectionAlone) {
  Outbox out;
  out.put(message(1));
  write_one(out);
  EXPECT_TRUE(out.is_empty());
}

// Every connection of this process: its peers see an end.
int shut_all() {
  int count = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_storage where{};
    socklen_t length = sizeof where;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&where), &length) != 0) continue;
    if (where.ss_family != AF_INET) continue;
    ::shutdown(fd, SHUT_RDWR);
    ++count;
  }
  return count;
}

bool agree_on(Job& job, std::uint64_t key, std::uint64_t first) {
  for (Rank& each : job.all) each.comm->collectives().offer(key, {100, 0});
  std::uint64_t call = first;
  return eventually([&] {
    bool all = true;
    for (Rank& each : job.all) {
      all = each.comm->collectives().value(call, key).value.capacity != 0 && all;
    }
    ++call;
    return all;
  });
}

TEST(Sessions, AreTakenUpAgain) {
  std::atomic<int> warned{0};
  Options options;
  options.warn = [&](const std::string&) { ++warned; };
  Job job(7, options);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  ASSERT_TRUE(agree_on(job, 1, 0));
  const std::vector<std::byte> bytes(900'001, std::byte{9});
  for (int time = 0; time < 5; ++time) {
    const auto call = static_cast<std::uint64_t>(time);
    EXPECT_GE(shut_all(), 6);
    // While nothing is connected: to all, and to one.
    job.all[6].comm->give({6, false, call, 0}, kToAll, bytes.size(), bytes);
    job.all[5].comm->give({5, true, call, 0}, 3, bytes.size(), bytes);
    const auto expect = [&](int rank, const Block& block) {
      std::vector<std::byte> got(bytes.size());
      for (std::size_t at = 0; at < got.size();) {
        const Taken taken = job.all[rank].comm->take(block, std::span(got).subspan(at), 20s);
        ASSERT_EQ(taken.outcome, Outcome::kKnown);
        ASSERT_GT(taken.bytes, 0);
        at += taken.bytes;
        if (at > 300'000 && at < 600'000) shut_all();  // and once more under way
      }
      ASSERT_EQ(got, bytes);
    };
    for (int rank = 0; rank < 6; ++rank) expect(rank, {6, false, call, 0});
    expect(3, {5, true, call, 0});
    EXPECT_TRUE(agree_on(job, 100 + call, 100'000 * (call + 1)));
  }
  EXPECT_TRUE(job.all_reach(State::kReady));
  EXPECT_GT(warned, 0);
  EXPECT_LE(warned, 7) << "once a process";
}

// The last of three ranks, played by hand; its connection ends and it lives.
class Lost : public testing::Test {
 protected:
  static Options quick() {
    Options made;
    made.connecting = 400ms;
    made.resuming = 2s;
    made.refused = 1s;
    return made;
  }
  // `host`: the puppet's.
  explicit Lost(std::uint32_t host = 1)
      : job_(2, quick(), 3), id_(job_.make_id()), puppet_(id_, 3, host) {
    for (Rank& each : job_.all) job_.open(each.rank, id_);
    puppet_.join();
  }
  void SetUp() override { ASSERT_TRUE(job_.all_reach(State::kReady)); }
  void offer(std::uint64_t key) {
    for (Rank& each : job_.all) each.comm->collectives().offer(key, {100, 0});
    puppet_.parent.say(Offered{key, {100, 0}});
  }

  Job job_;
  Id id_;
  Puppet puppet_;
};

TEST_F(Lost, IsMadeAgainByTheParent) {
  offer(4);
  const auto ask = puppet_.parent.hear_a_round();
  ASSERT_TRUE(ask);
  puppet_.parent.end();
  std::this_thread::sleep_for(200ms);
  puppet_.parent = puppet_.accept();
  const auto again = puppet_.parent.hear_a<Again>();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->makes);
  EXPECT_EQ(again->taken, 3);  // `up`, the offer, and that it can be heard
  // The table, `ready` and the look, but not the `ask` of the round.
  puppet_.parent.say(Took{3});
  const auto second = puppet_.parent.hear_a_round();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->round, ask->round);
  puppet_.parent.say(Limit{4, ask->round, 5000});
  const auto commit = puppet_.parent.hear_a<Commit>();
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->from, 5000);
  EXPECT_EQ(job_.all[0].comm->state(), State::kReady);
}

TEST_F(Lost, IsMadeAgainWhenTheChildAsks) {
  Wire wish = Wire::to(puppet_.stamp().registrar, puppet_.as(0));
  wish.say(Again{{}, false, false, 1});
  EXPECT_TRUE(puppet_.parent.is_shut());
  puppet_.parent = puppet_.accept();
  EXPECT_TRUE(puppet_.parent.hear_a<Again>());
}

TEST_F(Lost, IsGivenUpInTheEnd) {
  puppet_.parent.end();
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(job_.all[0].comm->state(), State::kReady);
  EXPECT_TRUE(job_.all_reach(State::kBroken));
  EXPECT_NE(job_.all[0].comm->membership().text.find("rank 2 cannot be reached any more"),
            std::string::npos)
      << job_.all[0].comm->membership().text;
}

TEST_F(Lost, WithMoreTakenThanWasSaidBreaks) {
  puppet_.parent.say(Took{1000});
  EXPECT_TRUE(job_.all_reach(State::kBroken));
}

// A rank that leaves before it has answered a round: no call waits for it.
TEST_F(Lost, ByARankThatLeavesReleasesWhoeverWaits) {
  offer(4);
  ASSERT_TRUE(puppet_.parent.hear_a_round());
  std::atomic<int> past{0};
  std::vector<std::thread> hosts;
  for (Rank& each : job_.all) {
    hosts.emplace_back([&] {
      for (std::uint64_t call = 0; call < 10'000; ++call) {
        if (call > 1000) std::this_thread::sleep_for(10us);
        ASSERT_EQ(each.comm->collectives().value(call, 4).outcome, Outcome::kKnown);
      }
      ++past;
    });
  }
  std::this_thread::sleep_for(50ms);
  puppet_.parent.say(Leaving{});
  EXPECT_TRUE(puppet_.parent.hear_a<Gone>());
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(past, 2);
  puppet_.die();
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(job_.all_reach(State::kReady));
}

// The same on a host that does not say whether it lives.
class Elsewhere : public Lost {
 protected:
  Elsewhere() : Lost(2) {}
};

// As a firewall does it while its rules are loaded.
TEST_F(Elsewhere, ThatIsRefusedForAWhileIsNoDeath) {
  puppet_.stop_listening();
  puppet_.parent.end();
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(job_.all[0].comm->state(), State::kReady);
  puppet_.listen();
  puppet_.parent = puppet_.accept();
  ASSERT_TRUE(puppet_.parent.hear_a<Again>());
  puppet_.parent.say(Took{2});
  offer(4);
  EXPECT_TRUE(puppet_.parent.hear_a_round());
  EXPECT_TRUE(job_.all_reach(State::kReady));
}

TEST_F(Elsewhere, ThatIsRefusedForLongHasEnded) {
  const auto begin = std::chrono::steady_clock::now();
  puppet_.die();
  ASSERT_TRUE(job_.all_reach(State::kBroken));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_NE(job_.all[1].comm->membership().text.find("rank 2 has ended"), std::string::npos)
      << job_.all[1].comm->membership().text;
}

// The kernel of the machine says so.
TEST_F(Lost, ByItsDeathOnThisMachineIsKnownAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  puppet_.die();
  ASSERT_TRUE(job_.all_reach(State::kBroken));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 900ms);
}

TEST(Listeners, AreKnownOnThisMachineAlone) {
  Address at = *address_of(ByteView(bare_id()).subspan(8));
  const Socket listening = listen_on(at);
  EXPECT_EQ(listens(at), Listens::kYes);
  Address other = at;
  other.host[3] = std::byte{2};
  EXPECT_EQ(listens(other), Listens::kUnknown);
  {
    Address free = at;
    const Socket taken = listen_on(free);
    other = free;
  }
  EXPECT_EQ(listens(other), Listens::kNo);
  Address six = *address_of(ByteView(bare_id(AF_INET6)).subspan(8));
  const Socket also = listen_on(six);
  if (also) {
    EXPECT_EQ(listens(six), Listens::kYes);
  }
}

// A receiver that takes the connection and says nothing.
TEST_F(Lost, PairThatWasNeverThereStaysRaw) {
  Channel& sends = job_.all[1].comm->to(2);
  sends.offer(7, {100, 0});
  std::vector<Wire> silent;
  EXPECT_TRUE(eventually([&] {
    const Answer answer = sends.value(0, 7);
    return answer.outcome == Outcome::kKnown && answer.value.reason == kUnreachable;
  }));
  EXPECT_TRUE(job_.all_reach(State::kReady));
  const std::vector<std::byte> bytes(10, std::byte{1});
  job_.all[1].comm->give({1, false, 3, 0}, 2, bytes.size(), bytes);
  const auto carried = puppet_.parent.hear_a<Carried>();
  ASSERT_TRUE(carried);
  EXPECT_EQ(carried->to, 2);
  EXPECT_TRUE(std::ranges::equal(carried->part.bytes, bytes));
}

// ---- connections of pairs that are not used ----

class Idle : public testing::Test {
 protected:
  static constexpr int kRanks = 9;
  static constexpr std::size_t kKept = 3;
  static constexpr std::size_t kOfTree = 5;
  static Options few() {
    Options made;
    made.kept_pairs = kKept;
    made.warn = [](const std::string& text) { ADD_FAILURE() << text; };
    return made;
  }
  Idle() : job_(kRanks, few()) { job_.open_all(); }
  void SetUp() override { ASSERT_TRUE(job_.all_reach(State::kReady)); }

  // Both ends offer, and have the value at last.
  bool pairs_agree(std::uint64_t key, std::uint16_t needed) {
    for_pairs([&](Channel& sends, Channel& receives) {
      sends.offer(key, {needed, 0});
      receives.offer(key, {0, 0});
    });
    return eventually([&] {
      bool all = true;
      for_pairs([&](Channel& sends, Channel& receives) {
        for (Channel* const each : {&sends, &receives}) {
          const Answer answer = each->value(call_, key);
          all = all && answer.outcome == Outcome::kKnown && answer.value.capacity >= needed;
        }
      });
      ++call_;
      return all;
    });
  }
  template <typename Work>
  void for_pairs(Work work) {
    for (Rank& from : job_.all) {
      for (Rank& to : job_.all) {
        if (&from != &to) work(from.comm->to(to.rank), to.comm->from(from.rank));
      }
    }
  }
  std::size_t most_connections() {
    std::size_t most = 0;
    for (Rank& each : job_.all) most = std::max(most, each.helper->connections());
    return most;
  }
  bool all_rest() {
    return eventually([&] { return most_connections() <= kKept + kOfTree; });
  }

  Job job_;
  std::uint64_t call_ = 0;
};

TEST_F(Idle, AreEndedAndMadeAgain) {
  for (std::uint16_t time = 0; time < 4; ++time) {
    ASSERT_TRUE(pairs_agree(10, static_cast<std::uint16_t>(100 + 50 * time))) << time;
    ASSERT_TRUE(all_rest()) << most_connections();
  }
  EXPECT_TRUE(job_.all_reach(State::kReady));
}

TEST_F(Idle, OfReceiversThatSpeakLateAreMadeAgain) {
  for_pairs([](Channel& sends, Channel&) { sends.offer(10, {100, 0}); });
  std::this_thread::sleep_for(1s);
  ASSERT_TRUE(all_rest());
  EXPECT_TRUE(pairs_agree(10, 100));
}

TEST_F(Idle, CarryBlocksAfterARest) {
  ASSERT_TRUE(pairs_agree(10, 100));
  ASSERT_TRUE(all_rest());
  const std::vector<std::byte> bytes(300'000, std::byte{3});
  for (Rank& each : job_.all) {
    for (int to = 0; to < kRanks; ++to) {
      if (to != each.rank) each.comm->give({each.rank, true, 4, 0}, to, bytes.size(), bytes);
    }
  }
  job_.run([&](Rank& each) {
    for (int from = 0; from < kRanks; ++from) {
      std::vector<std::byte> got(bytes.size());
      for (std::size_t at = 0; from != each.rank && at < got.size();) {
        const Taken taken = each.comm->take({from, true, 4, 0}, std::span(got).subspan(at), 20s);
        ASSERT_EQ(taken.outcome, Outcome::kKnown);
        ASSERT_GT(taken.bytes, 0);
        at += taken.bytes;
      }
      if (from != each.rank) {
        ASSERT_EQ(got, bytes);
      }
    }
  });
  ASSERT_TRUE(all_rest());
  EXPECT_TRUE(job_.all_reach(State::kReady));
}

// Neither a rank that leaves nor one that stays waits for connections which rest.
TEST_F(Idle, EndAtOnce) {
  ASSERT_TRUE(pairs_agree(10, 100));
  ASSERT_TRUE(all_rest());
  const auto begin = std::chrono::steady_clock::now();
  job_.all[3].comm.reset();
  job_.all[3].helper.reset();
  std::this_thread::sleep_for(50ms);
  // These speak to one that has gone.
  for (Rank& each : job_.all) {
    if (each.rank == 3) continue;
    each.comm->to(3).offer(10, {400, 0});
    each.comm->from(3).offer(10, {0, 7});
  }
  std::this_thread::sleep_for(1s);
  for (Rank& each : job_.all) {
    if (each.rank == 3) continue;
    EXPECT_EQ(each.comm->state(), State::kReady) << each.comm->membership().text;
    each.comm.reset();
    each.helper.reset();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}

}  // namespace
