// New connections of pairs are made few at a time, and connections rest without getting lost.
#include "agree/idle.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "agree/limits.h"
#include "agree/puppet.h"

namespace {

using namespace job;

class Opened : public testing::Test {
 protected:
  static constexpr int kOwners = 5 * static_cast<int>(kMostOpenings);
  void TearDown() override {
    loop_.stop();
    loop_.join();
  }
  // On the loop's thread, and what follows from it.
  template <typename Work>
  void run(Work work) {
    work_on_loop(work);
    std::this_thread::sleep_for(20ms);
    work_on_loop([] {});
  }
  template <typename Work>
  void work_on_loop(Work work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  // The last to ask comes first.
  void ask_all() {
    for (int at = kOwners - 1; at >= 0; --at) {
      openings_.ask(&owners_[at], static_cast<std::uint32_t>(at),
                    [this, at] { started_.push_back(at); });
    }
  }

  Loop loop_{[] {}};
  Openings openings_{loop_};
  int owners_[kOwners]{};
  std::vector<int> started_;
};

TEST_F(Opened, FewAtATimeTheNearestFirst) {
  run([&] { ask_all(); });
  ASSERT_EQ(started_.size(), kMostOpenings);
  run([&] {
    openings_.made(&owners_[1]);
    openings_.done(&owners_[3]);
    openings_.done(&owners_[kMostOpenings]);  // has not been started
  });
  ASSERT_EQ(started_.size(), kMostOpenings + 2);
  for (std::size_t at = 0; at < kMostOpenings; ++at) EXPECT_EQ(started_[at], at);
  EXPECT_EQ(started_[kMostOpenings], kMostOpenings + 1);
  EXPECT_EQ(started_[kMostOpenings + 1], kMostOpenings + 2);
}

TEST_F(Opened, AllComeToTheirTurn) {
  run([&] { ask_all(); });
  for (std::size_t at = 0; at < kOwners; ++at) {
    ASSERT_GT(started_.size(), at);
    run([&] { openings_.done(&owners_[started_[at]]); });
  }
  EXPECT_EQ(started_.size(), kOwners);
}

// Rank 1 of three, which keeps no connection that is not used, and one that a test plays.
class Rests : public testing::Test {
 protected:
  static Options none() {
    Options made;
    made.kept_pairs = 0;
    return made;
  }
  Rests() : job_(2, none(), 3), id_(job_.make_id()), puppet_(id_, 3) {
    for (Rank& each : job_.all) job_.open(each.rank, id_);
    puppet_.join();
  }
  void SetUp() override {
    ASSERT_TRUE(job_.all_reach(State::kReady));
    job_.all[1].comm->to(2).offer(7, {100, 0});
    pair_ = puppet_.accept();
    ASSERT_TRUE(pair_.hear_a<Pair>());
    pair_.say(Took{0});
    pair_.say(Offered{7, {0, 0}});
  }

  Job job_;
  Id id_;
  Puppet puppet_;
  Wire pair_;
};

// It is no answer: what the other side had not heard then ends its wish.
TEST_F(Rests, NotByAWishThatCrossedAnother) {
  const auto looks = pair_.hear_a<Ask>();
  ASSERT_TRUE(looks);
  const auto wish = pair_.hear_a<Rest>();
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->count, 1);
  pair_.say(Rest{0});
  pair_.say(Limit{looks->key, looks->round, 0});
  const auto ask = pair_.hear_a_round();
  ASSERT_TRUE(ask);
  pair_.say(Limit{ask->key, ask->round, 0});
  EXPECT_TRUE(pair_.hear_a<Commit>());
}

// It was an answer: the connection ends next, and is made again for what was not heard.
TEST_F(Rests, ByAnAnswerBeforeWhatIsSaidLast) {
  const auto looks = pair_.hear_a<Ask>();
  ASSERT_TRUE(looks);
  ASSERT_TRUE(pair_.hear_a<Rest>());
  pair_.say(Rest{0});
  pair_.end();
  pair_ = puppet_.accept();
  const auto again = pair_.hear_a<Again>();
  ASSERT_TRUE(again);
  pair_.say(Took{0});
  EXPECT_TRUE(pair_.hear_a<Ask>());
}

}  // namespace
