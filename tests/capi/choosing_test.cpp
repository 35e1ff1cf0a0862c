// Choosers and retries over the C interface: the rule itself is tested in tests/choose.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

using Chooser = std::unique_ptr<tw_chooser, decltype(&tw_chooser_destroy)>;

Chooser chooser_of(tw_chooser_options options = {}) {
  options.size = sizeof options;
  tw_chooser* made = nullptr;
  EXPECT_EQ(tw_chooser_create(&options, &made), TW_OK) << tw_last_error();
  return {made, tw_chooser_destroy};
}

tw_chooser_facts facts_of(bool pays = true, double raw = 1e-3, double compressed = 0.5e-3) {
  return {sizeof(tw_chooser_facts), pays, raw, compressed};
}

tw_chooser_state state_of(const Chooser& of) {
  tw_chooser_state state{};
  state.size = sizeof state;
  EXPECT_EQ(tw_chooser_describe(of.get(), &state), TW_OK) << tw_last_error();
  return state;
}

void agree_alone(const Chooser& of) {
  tw_chooser_times own{};
  own.size = sizeof own;
  ASSERT_EQ(tw_chooser_own(of.get(), &own), TW_OK);
  ASSERT_EQ(tw_chooser_adopt(of.get(), &own), TW_OK) << tw_last_error();
}

// How calls went that take so long: r raw, c compressed, in capitals in a timing round.
std::string send(const Chooser& of, int calls, std::uint64_t raw, std::uint64_t compressed) {
  std::string ways;
  const tw_chooser_facts facts = facts_of();
  for (int call = 0; call < calls; ++call) {
    if (state_of(of).due != 0) agree_alone(of);
    tw_chooser_turn turn{};
    turn.size = sizeof turn;
    EXPECT_EQ(tw_chooser_next(of.get(), &facts, &turn), TW_OK) << tw_last_error();
    const char way = turn.compressed != 0 ? 'c' : 'r';
    ways += turn.in_round != 0 ? static_cast<char>(way - 'a' + 'A') : way;
    const auto is_compressed = static_cast<int>(turn.compressed);
    if (turn.timed != 0) {
      tw_chooser_took(of.get(), is_compressed, is_compressed != 0 ? compressed : raw);
    }
  }
  return ways;
}

TEST(Choosing, KeepsToTheFasterWay) {
  EXPECT_EQ(send(chooser_of(), 20, 1000, 500), "RCCRCRRCCRRCRCCRcccc");
  EXPECT_EQ(send(chooser_of(), 20, 1000, 1100), "RCCRCRRCCRRCRCCRrrrr");
  EXPECT_EQ(send(chooser_of({.calls = 4}), 12, 1000, 500), "RCCRCRRCcccc");
  EXPECT_EQ(send(chooser_of({.begins_compressed = 1, .calls = 4}), 12, 1000, 1001), "CRRCRCCRrrrr");
  const Chooser of = chooser_of({.calls = 2});
  EXPECT_EQ(send(of, 6, 1000, 500), "RCCRcc");
  EXPECT_EQ(state_of(of).rounds, 1);
  EXPECT_EQ(state_of(of).compressed, 1);
}

TEST(Choosing, WatchesAllCallsIfThatIsFree) {
  const Chooser of = chooser_of({.free_timing = 1, .calls = 4});
  send(of, 40, 1000, 500);
  const std::string ways = send(of, 40, 1000, 1500);
  EXPECT_EQ(ways.substr(30), std::string(10, 'r')) << ways;
}

TEST(Choosing, MisuseIsRefused) {
  tw_chooser* made = nullptr;
  for (const std::uint32_t calls : {1U, 3U, 5U, 16U, 0xFFFFFFFFU}) {
    tw_chooser_options options{};
    options.size = sizeof options;
    options.calls = calls;
    EXPECT_EQ(tw_chooser_create(&options, &made), TW_INVALID_ARGUMENT) << calls;
  }
  EXPECT_EQ(tw_chooser_create(nullptr, nullptr), TW_INVALID_ARGUMENT);
  const Chooser of = chooser_of();
  tw_chooser_turn turn{};
  turn.size = sizeof turn;
  for (const double wrong : {-1.0, -HUGE_VAL, std::nan("")}) {
    const tw_chooser_facts raw = facts_of(true, wrong), coded = facts_of(true, 1, wrong);
    EXPECT_EQ(tw_chooser_next(of.get(), &raw, &turn), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_chooser_next(of.get(), &coded, &turn), TW_INVALID_ARGUMENT);
  }
  tw_chooser_times times{};
  times.size = sizeof times;
  EXPECT_EQ(tw_chooser_adopt(of.get(), &times), TW_INVALID_ARGUMENT) << "nothing is due";
  send(of, 4, 1000, 9000);
  const tw_chooser_facts facts = facts_of();
  EXPECT_EQ(tw_chooser_next(of.get(), &facts, &turn), TW_INVALID_ARGUMENT) << "it is due";
  EXPECT_EQ(tw_chooser_adopt(of.get(), &times), TW_OK);
}

TEST(Choosing, ADestroyedChooserIsRefused) {
  tw_chooser* made = nullptr;
  ASSERT_EQ(tw_chooser_create(nullptr, &made), TW_OK);
  tw_chooser_destroy(made);
  const tw_chooser_facts facts = facts_of();
  tw_chooser_turn turn{};
  turn.size = sizeof turn;
  tw_chooser_times times{};
  times.size = sizeof times;
  tw_chooser_state state{};
  state.size = sizeof state;
  for (tw_chooser* const each : {made, static_cast<tw_chooser*>(nullptr)}) {
    EXPECT_EQ(tw_chooser_next(each, &facts, &turn), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_chooser_took(each, 1, 1), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_chooser_own(each, &times), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_chooser_adopt(each, &times), TW_INVALID_ARGUMENT);
    EXPECT_EQ(tw_chooser_describe(each, &state), TW_INVALID_ARGUMENT);
    tw_chooser_destroy(each);
  }
}

// Whatever is told: no crash, and a turn each time.
TEST(Choosing, TakesAnyNumbers) {
  std::mt19937_64 random(7);
  const auto number = [&] { return random() >> random() % 64; };
  for (int run = 0; run < 200; ++run) {
    const Chooser of = chooser_of({.once = run % 7 == 0,
                                   .begins_compressed = run % 2 == 0,
                                   .free_timing = run % 3 == 0,
                                   .calls = 2U << run % 3});
    for (int call = 0; call < 300; ++call) {
      if (state_of(of).due != 0) {
        const tw_chooser_times times{sizeof times, 0, number(), number(), number(), number()};
        ASSERT_EQ(tw_chooser_adopt(of.get(), &times), TW_OK);
      }
      const tw_chooser_facts facts =
          facts_of(random() % 2 == 0, static_cast<double>(number()), static_cast<double>(number()));
      tw_chooser_turn turn{};
      turn.size = sizeof turn;
      ASSERT_EQ(tw_chooser_next(of.get(), &facts, &turn), TW_OK) << tw_last_error();
      tw_chooser_took(of.get(), static_cast<int>(random() % 2), number());
    }
  }
}

TEST(Retry, TriesEverMoreRarely) {
  tw_retry retry{};
  std::vector<int> tried;
  for (int array = 0; array < 200; ++array) {
    if (tw_retry_next(&retry) == 0) continue;
    tried.push_back(array);
    tw_retry_tell(&retry, 0);
  }
  EXPECT_EQ(tried, (std::vector{0, 1, 3, 6, 11, 20, 37, 70, 134, 197}));
  while (tw_retry_next(&retry) == 0) continue;
  tw_retry_tell(&retry, 1);
  for (int array = 0; array < 100; ++array) {
    EXPECT_EQ(tw_retry_next(&retry), 1);
    tw_retry_tell(&retry, 1);
  }
  EXPECT_EQ(tw_retry_next(nullptr), 1);
  tw_retry_tell(nullptr, 0);
}

TEST(Retry, AnyStateIsOne) {
  std::mt19937_64 random(3);
  for (int run = 0; run < 1000; ++run) {
    tw_retry retry{random()};
    int skipped = 0;
    while (tw_retry_next(&retry) == 0) ++skipped;
    EXPECT_LE(skipped, 255);
    tw_retry_tell(&retry, run % 2);
  }
}

}  // namespace
