#include "collectives/pace.h"

#include <gtest/gtest.h>
#include <time.h>

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
