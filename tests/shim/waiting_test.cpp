#include "shim/mpi/collective/waiting.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <thread>

namespace thinwire::mpi {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

double seconds_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int turns_in(Waiting& waiting, milliseconds time) {
  int turns = 0;
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end; ++turns)
    waiting.idle();
  return turns;
}

TEST(Waiting, TheLibrarysThreadSleepsWhereNothingComes) {
  sleep_precisely();
  Waiting waiting;
  waiting.set(Waiting::Who::kLibrary);
  turns_in(waiting, milliseconds(5));
  const double before = seconds_of_thread();
  // A sleep is 200 microseconds, later a 64th of the wait.
  EXPECT_LT(turns_in(waiting, milliseconds(200)), 1000);
  EXPECT_LT(seconds_of_thread() - before, 0.05);
}

TEST(Waiting, TheLibrarysThreadDoesNotSleepWhileTheProgramWaits) {
  sleep_precisely();
  std::atomic<unsigned> wanted = 0;
  Waiting waiting;
  waiting.set(Waiting::Who::kLibrary, &wanted);
  turns_in(waiting, milliseconds(100));
  // Sleeps of a millisecond would take so many turns 10 seconds.
  wanted = 1;
  const auto begin = steady_clock::now();
  for (int turn = 0; turn < 10'000; ++turn) waiting.idle();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
  wanted = 0;
  EXPECT_LT(turns_in(waiting, milliseconds(50)), 500);
}

// Two threads on one processor: a turn of each costs the other no time slice.
TEST(Waiting, WhoSharesAProcessorLetsTheOtherRunAtOnce) {
  const auto voluntary = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  };
  const auto turns = [&](bool shares) {
    Waiting waiting;
    if (shares) waiting.share_processors();
    const long before = voluntary();
    for (int turn = 0; turn < 900; ++turn) waiting.idle();
    return voluntary() - before;
  };
  std::atomic<bool> ends = false;
  cpu_set_t before, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&first);
  for (int at = 0; CPU_COUNT(&first) == 0; ++at) {
    if (CPU_ISSET(at, &before)) CPU_SET(at, &first);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  std::thread other([&] {
    while (!ends) sched_yield();
  });
  EXPECT_GT(turns(true), 5 * turns(false) + 10);
  ends = true;
  other.join();
  sched_setaffinity(0, sizeof before, &before);
}

TEST(Waiting, RanksOutnumberTheProcessorsThatTheyMayUse) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_FALSE(outnumber_processors(CPU_COUNT(&mine)));
  EXPECT_TRUE(outnumber_processors(CPU_COUNT(&mine) + 1));
}

TEST(Waiting, WhatComesEndsTheSleeping) {
  Waiting waiting;
  waiting.set(Waiting::Who::kLibrary);
  turns_in(waiting, milliseconds(50));
  waiting.progress();
  const auto begin = steady_clock::now();
  for (int turn = 0; turn < 3; ++turn) waiting.idle();
  waiting.set(Waiting::Who::kProgram);
  for (int turn = 0; turn < 100; ++turn) waiting.idle();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(50));
}

}  // namespace
}  // namespace thinwire::mpi
