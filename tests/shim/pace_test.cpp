#include "shim/mpi/collective/pace.h"

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

int turns_in(Pace& pace, milliseconds time) {
  int turns = 0;
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end; ++turns) pace.idle();
  return turns;
}

TEST(Pace, TheLibrarysThreadSleepsWhereNothingComes) {
  sleep_precisely();
  Pace pace;
  pace.set(Pace::Who::kLibrary);
  turns_in(pace, milliseconds(5));
  const double before = seconds_of_thread();
  // The longest sleep is 200 microseconds.
  EXPECT_LT(turns_in(pace, milliseconds(200)), 1500);
  EXPECT_LT(seconds_of_thread() - before, 0.05);
}

// Two threads on one processor: a turn of each costs the other no time slice.
TEST(Pace, WhoSharesAProcessorLetsTheOtherRunAtOnce) {
  const auto voluntary = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  };
  const auto turns = [&](bool shares) {
    Pace pace;
    if (shares) pace.share_processors();
    const long before = voluntary();
    for (int turn = 0; turn < 900; ++turn) pace.idle();
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

TEST(Pace, RanksOutnumberTheProcessorsThatTheyMayUse) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_FALSE(outnumber_processors(CPU_COUNT(&mine)));
  EXPECT_TRUE(outnumber_processors(CPU_COUNT(&mine) + 1));
}

TEST(Pace, WhatComesEndsTheSleeping) {
  Pace pace;
  pace.set(Pace::Who::kLibrary);
  turns_in(pace, milliseconds(50));
  pace.progress();
  const auto begin = steady_clock::now();
  for (int turn = 0; turn < 3; ++turn) pace.idle();
  pace.set(Pace::Who::kProgram);
  for (int turn = 0; turn < 100; ++turn) pace.idle();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(50));
}

}  // namespace
}  // namespace thinwire::mpi
