// Strangers who reach a helper's port, read along or change what travels.
#include <gtest/gtest.h>

#include <atomic>

#include "agree/puppet.h"
#include "agree/socket.h"

namespace {

using namespace job;

// The last of three ranks is played by hand.
class Trust : public testing::Test {
 protected:
  Trust() : job_(2, {}, 3), id_(job_.make_id()), puppet_(id_, 3) {
    for (Rank& each : job_.all) job_.open(each.rank, id_);
  }
  void join() {
    puppet_.join();
    ASSERT_TRUE(job_.all_reach(State::kReady));
  }
  void expect_a_sound_job(std::uint64_t key) {
    for (Rank& each : job_.all) each.comm->collectives().offer(key, {100, 0});
    puppet_.parent.say(Offered{key, {100, 0}});
    const auto ask = puppet_.parent.hear_a_round();
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->key, key);
    puppet_.parent.say(Limit{key, ask->round, 300});
    EXPECT_TRUE(puppet_.parent.hear_a<Commit>());
    EXPECT_TRUE(job_.all_reach(State::kReady));
  }
  // The connection that rank 0 makes anew, with what was not taken said again.
  void expect_another_connection(std::uint64_t taken_before) {
    EXPECT_TRUE(puppet_.parent.is_shut());
    puppet_.parent = puppet_.accept();
    const auto again = puppet_.parent.hear_a<Again>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->taken, taken_before);
    puppet_.parent.say(Took{2});  // the table and `ready`
  }
  Address registrar() const { return puppet_.stamp().registrar; }
  Introduction without_the_secret(int number) const {
    Introduction as = puppet_.as(number);
    as.head.secret[3] ^= std::byte{1};
    return as;
  }
  Hello known_name(int number) const {
    const Handshake known(puppet_.as(number));
    return std::get<Hello>(*known.first());
  }

  Job job_;
  Id id_;
  Puppet puppet_;
};

TEST_F(Trust, StrangersAreClosedWithoutAWord) {
  for (const Message& said : std::initializer_list<Message>{
           puppet_.registration(), Join{}, Pair{}, Again{{}, false, true, 0},
           Again{{}, false, false, 0}, Call{{}, Says::kRaw, "raw"}, Failed{{}, "raw"},
           Decision{true, ""}, Challenge{}, Proven{}}) {
    Wire stranger = Wire::to(registrar());
    stranger.say(said);
    EXPECT_FALSE(stranger.hear());
  }
  EXPECT_FALSE(Wire::to(registrar(), without_the_secret(3)).hear());
  Introduction of_a_part = without_the_secret(2);
  of_a_part.child_of = Lineage{puppet_.stamp().secret, 0, 0};
  EXPECT_FALSE(Wire::to(registrar(), of_a_part).hear());
  join();
  expect_a_sound_job(4);
}

// Ranks that get no processor for a while are not ended for those who come after them.
TEST_F(Trust, WhoNamesACommunicatorIsLeftItsTime) {
  std::vector<Wire> slow;
  for (std::size_t made = 0; made < most_strangers() + 8; ++made) {
    slow.push_back(Wire::to(registrar()));
    slow.back().say(known_name(3));
  }
  EXPECT_TRUE(slow.front().hear_a<Challenge>());
  pollfd first{slow.front().fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&first, 1, 500), 0);
  slow.clear();
  join();
  expect_a_sound_job(4);
}

// A stranger who has read the communicator's name gets a question, and nothing else.
TEST_F(Trust, WhoReadsAlongCannotRegister) {
  for (int way = 0; way < 3; ++way) {
    Wire stranger = Wire::to(registrar());
    stranger.say(known_name(3));
    const auto challenge = stranger.hear();
    ASSERT_TRUE(challenge && std::holds_alternative<Challenge>(*challenge));
    if (way == 0) stranger.say(puppet_.registration());
    if (way == 1) stranger.say(Proven{});
    if (way == 2) stranger.say(Proven{std::get<Challenge>(*challenge).proof});
    EXPECT_FALSE(stranger.hear());
  }
  EXPECT_EQ(job_.all[0].comm->state(), State::kForming);
  join();
  expect_a_sound_job(4);
}

TEST_F(Trust, WhatARankSaidIsNoUseToAnother) {
  Bytes recorded;
  puppet_.registrar = Wire();
  Wire rank = Wire::to(registrar());
  rank.record(&recorded);
  rank.shake_hands(Handshake(puppet_.as(3)));
  rank.say(puppet_.registration());
  ASSERT_TRUE(rank.hear_a<Waiting>());
  EXPECT_TRUE(std::ranges::search(recorded, puppet_.stamp().secret).empty());
  Wire stranger = Wire::to(registrar());
  stranger.say_bytes(recorded);
  EXPECT_TRUE(stranger.hear_a<Challenge>());
  EXPECT_FALSE(stranger.hear());
  puppet_.registrar = puppet_.come();
  join();
  expect_a_sound_job(4);
}

TEST_F(Trust, AStrangerEndsNoSessionAndTakesNoneUp) {
  join();
  for (const bool makes : {false, true}) {
    Wire stranger = Wire::to(registrar());
    stranger.say(known_name(0));
    ASSERT_TRUE(stranger.hear_a<Challenge>());
    stranger.say(Again{{}, false, makes, 0});
    EXPECT_FALSE(stranger.hear());
    EXPECT_FALSE(Wire::to(registrar(), without_the_secret(0)).hear());
  }
  // The connection that the rank has is still the session's.
  expect_a_sound_job(4);
}

// Who answers on a rank's port without the secret hears what it is asked, and nothing else.
TEST_F(Trust, AStrangerOnARanksPortHearsNothing) {
  join();
  puppet_.parent.end();
  for (int times = 0; times < 3; ++times) {
    Wire stranger = puppet_.accept_as_a_stranger();
    ASSERT_TRUE(stranger.hear_a<Hello>());
    stranger.say(Challenge{});
    EXPECT_TRUE(stranger.is_shut());
  }
  puppet_.parent = puppet_.accept();
  ASSERT_TRUE(puppet_.parent.hear_a<Again>());
  puppet_.parent.say(Took{2});
  expect_a_sound_job(4);
}

TEST_F(Trust, DamageOnTheWayIsFoundAndNothingIsLost) {
  join();
  Bytes damaged = puppet_.parent.sealed(Offered{4, {100, 0}});
  damaged[20] ^= std::byte{1};
  puppet_.parent.say_bytes(damaged);
  expect_another_connection(1);
  expect_a_sound_job(4);
}

TEST_F(Trust, WhatIsRepeatedIsRefused) {
  join();
  const Bytes once = puppet_.parent.sealed(Offered{4, {100, 0}});
  puppet_.parent.say_bytes(once);
  puppet_.parent.say_bytes(once);
  expect_another_connection(2);
  expect_a_sound_job(5);
}

TEST_F(Trust, WhatComesOutOfOrderIsRefused) {
  join();
  const Bytes first = puppet_.parent.sealed(Offered{4, {100, 0}});
  const Bytes second = puppet_.parent.sealed(Offered{5, {100, 0}});
  puppet_.parent.say_bytes(second);
  puppet_.parent.say_bytes(first);
  expect_another_connection(1);
  expect_a_sound_job(6);
}

// Values are spoilt by nobody on the way: a block comes whole or again.
TEST_F(Trust, ADamagedBlockIsSentAgain) {
  join();
  const std::vector<std::byte> bytes(1000, std::byte{5});
  const Part part{{2, false, 7, 0}, bytes.size(), 0, bytes};
  Bytes damaged = puppet_.parent.sealed(part);
  damaged[600] ^= std::byte{64};
  puppet_.parent.say_bytes(damaged);
  expect_another_connection(1);
  puppet_.parent.say(part);
  std::vector<std::byte> got(bytes.size());
  for (Rank& each : job_.all) {
    for (std::size_t at = 0; at < got.size();) {
      const Taken taken = each.comm->take(part.block, std::span(got).subspan(at), 20s);
      ASSERT_GT(taken.bytes, 0);
      at += taken.bytes;
    }
    EXPECT_EQ(got, bytes);
  }
}

}  // namespace
