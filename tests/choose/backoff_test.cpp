#include "choose/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace thinwire::choose {
namespace {

// Sends one message of data that shrinks or does not; whether it was tried.
template <typename Channel>
bool send(Channel& channel, bool shrinks) {
  if (channel.next() == Effort::kSkip) return false;
  shrinks ? channel.succeeded() : channel.declined();
  return true;
}

template <typename Channel>
int tries(Channel& channel, int messages, bool shrinks) {
  int count = 0;
  for (int message = 0; message < messages; ++message) count += send(channel, shrinks);
  return count;
}

TEST(Backoff, DataThatShrinksIsAlwaysTriedWhole) {
  Backoff channel;
  for (int message = 0; message < 1000; ++message) {
    EXPECT_EQ(channel.next(), Effort::kWhole);
    channel.succeeded();
  }
}

TEST(Backoff, DeclinesInARowDoubleWhatIsSkipped) {
  Backoff channel;
  std::vector<int> tried;
  for (int message = 0; message < 262; ++message) {
    if (send(channel, false)) tried.push_back(message);
  }
  EXPECT_EQ(tried, (std::vector<int>{0, 1, 3, 6, 11, 20, 37, 70, 134, 197, 261}));
}

TEST(Backoff, FindsDataThatShrinksAgainInTime) {
  for (int before = 1; before < 2000; ++before) {
    Backoff channel;
    tries(channel, before, false);
    std::uint32_t search = 1;
    while (!send(channel, true)) ++search;
    ASSERT_LE(search, kLongestSearch) << "after " << before;
    ASSERT_EQ(tries(channel, 100, true), 100);
  }
}

// The second kind must not be what falls to the first one's skips.
TEST(Backoff, TwoKindsInTurnsDoNotHideEachOther) {
  Backoff channel;
  int shrunk = 0;
  for (int message = 0; message < 1000; ++message) {
    shrunk += send(channel, message % 2 == 1) && message % 2 == 1;
  }
  EXPECT_EQ(shrunk, 500);
}

// One message of each round shrinks: no length of a round may hide it for ever.
TEST(Backoff, NoPeriodStaysInStep) {
  for (int period = 2; period <= 64; ++period) {
    for (int place = 0; place < period; ++place) {
      Backoff channel;
      tries(channel, 500, false);
      int shrunk = 0;
      for (int message = 0; message < 127 * period; ++message) {
        const bool shrinks = message % period == place;
        shrunk += send(channel, shrinks) && shrinks;
      }
      EXPECT_GT(shrunk, 0) << period << " " << place;
    }
  }
}

TEST(Backoff, BeginsAnewWhereMuchLessIsAsked) {
  Backoff channel;
  const auto tried = [&channel](double asked) {
    if (channel.next(asked) == Effort::kSkip) return 0;
    channel.declined(asked);
    return 1;
  };
  int count = 0;
  for (int message = 0; message < 60; ++message) count += tried(2.0);
  EXPECT_EQ(count, 7);
  // A little less is asked: what did not reach the one hardly reaches the other.
  EXPECT_EQ(tried(1.8), 0);
  // The link has become slow.
  EXPECT_EQ(tried(1.1), 1);
  EXPECT_EQ(tried(1.1), 1);
  EXPECT_EQ(tried(1.1), 0);
  // And fast, and slow: that 1.1 is not reached is known.
  EXPECT_EQ(tried(2.0), 1);
  for (int message = 0; message < 3; ++message) EXPECT_LE(tried(1.1), 1);
  count = 0;
  for (int message = 0; message < 64; ++message) count += tried(message % 2 == 0 ? 2.0 : 1.1);
  EXPECT_LE(count, 5);
}

TEST(Backoff, SkipsLittleWhereAttemptsAreCheap) {
  EXPECT_EQ(Backoff::most_skips(1e-4, 0), kLongestSearch);
  EXPECT_EQ(Backoff::most_skips(1e-3, 1e-3), kLongestSearch);
  EXPECT_EQ(Backoff::most_skips(1e-4, 5e-3), 4U);
  for (const std::uint32_t most : {0U, 1U, 4U, 16U}) {
    Backoff channel;
    int tried = 0, in_a_row = 0, longest = 0;
    for (int message = 0; message < 4000; ++message) {
      const bool is_tried = channel.next() != Effort::kSkip;
      if (is_tried) channel.declined(1, most);
      tried += is_tried ? 1 : 0;
      in_a_row = is_tried ? 0 : in_a_row + 1;
      longest = std::max(longest, in_a_row);
    }
    EXPECT_LE(longest, static_cast<int>(most));
    EXPECT_GE(tried, 4000 / static_cast<int>(most + 1));
    EXPECT_LE(tried, most >= 4 ? 2 * 4000 / static_cast<int>(most) : 4000);
  }
}

TEST(Backoff, NoPeriodStaysInStepWithShortSkips) {
  for (const std::uint32_t most : {1U, 2U, 3U, 6U, 13U}) {
    for (int period = 2; period <= 40; ++period) {
      for (int place = 0; place < period; ++place) {
        Backoff channel;
        bool found = false;
        for (int message = 0; message < 200 * period && !found; ++message) {
          if (channel.next() == Effort::kSkip) continue;
          found = message > 100 && message % period == place;
          channel.declined(1, most);
        }
        EXPECT_TRUE(found) << most << " " << period << " " << place;
      }
    }
  }
}

TEST(Backoff, NothingLessThanSmallerCanBeAsked) {
  Backoff channel;
  for (int message = 0; message < 22; ++message) {
    if (channel.next(0) != Effort::kSkip) channel.declined(0);
  }
  EXPECT_EQ(channel.next(0), Effort::kSkip);
  EXPECT_EQ(channel.next(1), Effort::kSkip);
}

TEST(Backoff, SamplesAfterADeclineUntilDataShrinksForLong) {
  Backoff channel;
  send(channel, false);
  int sampled = 0;
  for (int message = 0; message < 200; ++message) {
    sampled += channel.next() == Effort::kSampleFirst;
    channel.succeeded();
  }
  EXPECT_EQ(sampled, 64);
  channel.doubt();
  EXPECT_EQ(channel.next(), Effort::kSampleFirst);
}

TEST(Backoff, NumbersNeverRunOver) {
  Backoff channel;
  for (int decline = 0; decline < 70000; ++decline) {
    while (channel.next() == Effort::kSkip) continue;
    channel.declined();
    ASSERT_GE(channel.declines(), static_cast<std::uint32_t>(std::min(decline, 60000)));
  }
}

// Every skip that a decline grants is taken once, whoever takes it.
TEST(Backoff, ThreadsShareAChannel) {
  constexpr int kThreads = 4, kMessages = 20000;
  SharedBackoff channel;
  tries(channel, 71, false);  // ends with the decline that grants 63
  std::atomic<int> skipped{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int message = 0; message < kMessages; ++message) {
        skipped += channel.next() == Effort::kSkip;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(skipped, 63);
}

}  // namespace
}  // namespace thinwire::choose
