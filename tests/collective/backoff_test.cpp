#include "collective/polled/backoff.h"

#include <gtest/gtest.h>

namespace thinwire::collective {
namespace {

TEST(Backoff, TriesLessAndLess) {
  Backoff backoff;
  int tried = 0;
  for (int piece = 0; piece < 1000; ++piece) {
    if (!backoff.tries()) continue;
    ++tried;
    backoff.saw(true);
  }
  EXPECT_EQ(tried, 7 + (999 - 126) / 65);
}

TEST(Backoff, NoticesThatDataShrinksAgain) {
  Backoff backoff;
  for (int piece = 0; piece < 1000; ++piece) {
    if (backoff.tries()) backoff.saw(true);
  }
  int waited = 0;
  while (!backoff.tries()) ++waited;
  EXPECT_LE(waited, static_cast<int>(Backoff::kMostSkipped));
  backoff.saw(false);
  for (int piece = 0; piece < 100; ++piece) {
    ASSERT_TRUE(backoff.tries());
    backoff.saw(false);
  }
}

}  // namespace
}  // namespace thinwire::collective
