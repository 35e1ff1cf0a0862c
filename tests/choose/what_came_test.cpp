// When a step counts for the way of the messages that came in it.
#include "choose/what_came.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace thinwire::choose {
namespace {

struct Steps {
  WhatCame of;
  Came came;
  // 'r' or 'c': the way of the step's own message and of the one that came; '-': none came, 'b':
  // one of each way did.
  void add(char own, char came_so, double nanoseconds) {
    came.raw += came_so == 'r' || came_so == 'b' ? 1 : 0;
    came.coded += came_so == 'c' || came_so == 'b' ? 1 : 0;
    of.note(came);
    of.end_step(nanoseconds, own == 'c');
  }
  // Until what came decides: it takes three times as long if compressed messages come.
  void let_it_decide() {
    for (int repeat = 0; repeat < 4; ++repeat) {
      add('r', 'c', 3e6);
      add('c', 'r', 1e6);
      add('r', 'r', 1e6);
    }
    ASSERT_TRUE(of.find());
  }
};

TEST(WhatCame, DecidesIfTimesTellOfItMoreThanOfAStepsOwnWay) {
  Steps by_came, by_own, together;
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (const char own : {'r', 'c'}) {
      for (const char came : {'r', 'c'}) {
        by_came.add(own, came, came == 'c' ? 2e6 : 1e6);
        by_own.add(own, came, own == 'c' ? 2e6 : 1e6);
        together.add(own, own, own == 'c' ? 2e6 : 1e6);
      }
    }
  }
  EXPECT_TRUE(by_came.of.find());
  EXPECT_TRUE(by_came.of.decides());
  EXPECT_FALSE(by_came.of.find());  // it was found before
  EXPECT_NEAR(by_came.of.times().coded().mean(), 2e6, 1);
  EXPECT_NEAR(by_came.of.times().raw().mean(), 1e6, 1);
  EXPECT_FALSE(by_own.of.find());
  EXPECT_FALSE(together.of.find());
}

TEST(WhatCame, DecidesNoMoreOnceNothingComes) {
  Steps steps;
  steps.let_it_decide();
  for (int step = 0; step < 63; ++step) steps.add('r', '-', 1e6);
  EXPECT_FALSE(steps.of.end_if_over(false));
  EXPECT_TRUE(steps.of.is_unknown());
  steps.add('r', '-', 1e6);
  EXPECT_TRUE(steps.of.end_if_over(false));
  EXPECT_FALSE(steps.of.decides());
  EXPECT_FALSE(steps.of.find());
}

TEST(WhatCame, DoesNotSpeakForMessagesThatCost) {
  Steps gains, loses;
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (const char own : {'r', 'c'}) {
      for (const char came : {'r', 'c'}) {
        gains.add(own, came, (own == 'c' ? 1.2e6 : 1e6) * (came == 'c' ? 1 : 4));
        loses.add(own, came, (own == 'c' ? 1.2e6 : 1e6) * (came == 'c' ? 4 : 1));
      }
    }
  }
  EXPECT_FALSE(gains.of.find());
  EXPECT_TRUE(loses.of.find());
  for (int step = 0; step <= 64; ++step) loses.add('c', 'r', 1e6);
  EXPECT_TRUE(loses.of.end_if_over(true));  // nothing compressed came for long
}

// While messages are compressed, what came decides no more once all of it went one way for 64
// steps. A step in which both ways came is none of these, and one in which nothing came is.
TEST(WhatCame, OneWayAloneEndsItAndBothTogetherDoNot) {
  const auto is_over_after = [](const std::string& by_turns, int steps) {
    Steps of;
    of.let_it_decide();
    for (int step = 0; step < steps; ++step)
      of.add('c', by_turns[static_cast<std::size_t>(step) % by_turns.size()], 1e6);
    return of.of.end_if_over(true);
  };
  for (const char* const one_way : {"r", "r-", "c", "c-"}) {
    EXPECT_FALSE(is_over_after(one_way, 60)) << one_way;
    EXPECT_TRUE(is_over_after(one_way, 65)) << one_way;
  }
  for (const char* const both : {"rb", "cb", "rc", "r-b-"})
    EXPECT_FALSE(is_over_after(both, 200)) << both;
  EXPECT_TRUE(is_over_after("b", 64));  // none tells of a way
}

TEST(WhatCame, IsFoundAmongStepsInWhichBothWaysCome) {
  Steps steps;
  for (int step = 0; step < 80; ++step) steps.add('r', step % 2 == 0 ? 'r' : 'b', 1e6);
  for (int step = 0; step < 4; ++step) steps.add('c', 'r', 1e6);
  for (int step = 0; step < 2; ++step) steps.add('r', 'c', 3e6);
  for (int step = 0; step < 80; ++step) steps.add('r', step % 2 == 0 ? 'c' : 'b', 3e6);
  EXPECT_TRUE(steps.of.find());
}

TEST(WhatCame, MessagesOfBothWaysAreNeither) {
  Steps steps;
  steps.add('r', 'r', 1e6);
  EXPECT_TRUE(steps.of.was_raw());
  steps.add('r', 'b', 1e6);
  EXPECT_TRUE(steps.of.is_unknown());
  EXPECT_FALSE(steps.of.was_raw() || steps.of.was_coded());
}

}  // namespace
}  // namespace thinwire::choose
