// Calls that make communicators, and the library's own turns among them.
#include "shim/mpi/collective/creation_count.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace thinwire::mpi {
namespace {

TEST(CreationCountTest, TheLibraryDoesNotWaitForCallsUnderWay) {
  CreationCount count;
  count.begin();
  EXPECT_FALSE(count.is_idle());
  EXPECT_FALSE(count.begin_quiet());
  count.end();
  EXPECT_TRUE(count.begin_quiet());
  EXPECT_FALSE(count.begin_quiet());
  count.end_quiet();
  EXPECT_TRUE(count.is_idle());
}

TEST(CreationCountTest, CallsWaitForTheLibrarysTurn) {
  CreationCount count;
  int made = 0;
  ASSERT_TRUE(count.begin_quiet());
  std::thread call([&] {
    count.begin();
    EXPECT_EQ(made, 1);
    count.end();
  });
  made = 1;
  count.end_quiet();
  call.join();
  EXPECT_TRUE(count.is_idle());
}

TEST(CreationCountTest, ATurnIsNeverBesideACall) {
  CreationCount count;
  std::atomic<int> calls{0};
  int turns = 0, beside = 0;  // without a lock: only turns touch them
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int at = 0; at < 4; ++at) {
    threads.emplace_back([&, at] {
      for (int round = 0; round < 2000; ++round) {
        if (at % 2 == 0) {
          count.begin();
          ++calls;
          --calls;
          count.end();
        } else if (count.begin_quiet()) {
          ++turns;
          beside += calls.load();
          count.end_quiet();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(count.is_idle());
  EXPECT_EQ(beside, 0);
}

}  // namespace
}  // namespace thinwire::mpi
