#include "shim/mpi/collective/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace thinwire::mpi {
namespace {

using Who = Waiting::Who;

// Handles that no MPI has seen.
MPI_Request request(std::intptr_t number) { return reinterpret_cast<MPI_Request>(number); }

TEST(Worker, WhoWaitsRunsWhatNobodyHasBegun) {
  Worker worker(Worker::Order::kAsHandedOver);
  std::atomic<int> run = 0, by_caller = 0;
  const auto caller = std::this_thread::get_id();
  const auto task = [&](Who who, const auto&) {
    ++run;
    EXPECT_EQ(who == Who::kProgram, std::this_thread::get_id() == caller);
    if (who == Who::kProgram) ++by_caller;
  };
  for (int round = 0; round < 200; ++round) {
    for (int at = 1; at <= 4; ++at) worker.hand_over(request(at), task);
    worker.run_until_done(request(4));
    EXPECT_EQ(run, 4 * (round + 1));
  }
  EXPECT_GT(by_caller, 0);
}

TEST(Worker, RunsWithoutAnybodyWhoWaits) {
  Worker worker(Worker::Order::kAsHandedOver);
  std::atomic<int> run = 0;
  for (int at = 1; at <= 20; ++at) {
    worker.hand_over(request(at), [&run](Who, const auto&) { ++run; });
  }
  while (run < 20) std::this_thread::yield();
}

// A program may wait for signals that all of its own threads have blocked.
TEST(Worker, TakesNoSignalsOfTheProgram) {
  Worker worker(Worker::Order::kAsHandedOver);
  std::atomic<bool> run = false;
  worker.hand_over(request(1), [&run](Who who, const auto&) {
    sigset_t blocked{};
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    EXPECT_EQ(who, Who::kLibrary);
    EXPECT_TRUE(sigismember(&blocked, SIGUSR1) && sigismember(&blocked, SIGTERM));
    run = true;
  });
  while (!run) std::this_thread::yield();
}

TEST(Worker, RunsInTheOrderOfTheCalls) {
  Worker worker(Worker::Order::kAsHandedOver);
  std::vector<int> order;  // one task at a time writes to it
  for (int at = 1; at <= 100; ++at) {
    worker.hand_over(request(at), [&order, at](Who, const auto&) { order.push_back(at); });
    if (at % 7 == 0) worker.run_until_done(request(at - 2));
  }
  worker.run_until_idle();
  ASSERT_EQ(order.size(), 100U);
  for (int at = 1; at <= 100; ++at) EXPECT_EQ(order[static_cast<std::size_t>(at - 1)], at);
}

// Ranks may start persistent collectives in different orders: who waits for one must not be held up
// by one before it.
TEST(Worker, WhoWaitsForOneOfManyAtOnceIsNotHeldUpByOthers) {
  Worker worker(Worker::Order::kAtOnce);
  std::atomic<bool> goes_on = false;
  for (int round = 0; round < 50; ++round) {
    goes_on = false;
    worker.hand_over(request(1), [&](Who, const auto&) {
      while (!goes_on) std::this_thread::yield();
    });
    worker.hand_over(request(2), [](Who, const auto&) {});
    worker.run_until_done(request(2));
    goes_on = true;
    worker.run_until_done(request(1));
  }
}

// It must not sleep then: it alone moves the messages of the process.
TEST(Worker, ATaskLearnsThatAThreadOfTheProgramWaitsForIt) {
  for (const auto order : {Worker::Order::kAsHandedOver, Worker::Order::kAtOnce}) {
    Worker worker(order);
    std::atomic<bool> begun = false, others_begun = false;
    worker.hand_over(request(1), [&](Who who, const auto& waiting) {
      begun = true;
      while (who == Who::kLibrary && waiting == 0) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    worker.hand_over(request(2), [&](Who, const auto&) { others_begun = true; });
    // The second of two that run one after the other waits for the first.
    worker.run_until_done(request(order == Worker::Order::kAtOnce ? 1 : 2));
    worker.run_until_idle();
    EXPECT_TRUE(others_begun);
  }
}

// A thread that is held for each task lets all of them run at once, though more are refused.
TEST(Worker, HoldsAThreadForEachOfManyAtOnce) {
  Worker worker(Worker::Order::kAtOnce);
  for (int at = 1; at <= 3; ++at) EXPECT_TRUE(worker.hold_thread());
  worker.let_thread_go();
  EXPECT_EQ(worker.held(), 2U);
  EXPECT_TRUE(worker.hold_thread());
  std::atomic<int> begun = 0;
  for (int at = 1; at <= 3; ++at) {
    worker.hand_over(request(at), [&begun](Who, const auto&) {
      ++begun;
      while (begun < 3) std::this_thread::yield();
    });
  }
  worker.run_until_idle();
  EXPECT_EQ(begun, 3);
}

TEST(Worker, WhatIsLeftRunsBeforeItEnds) {
  std::atomic<int> run = 0;
  {
    Worker worker(Worker::Order::kAsHandedOver);
    for (int at = 1; at <= 10; ++at) {
      worker.hand_over(request(at), [&run](Who, const auto&) { ++run; });
    }
  }
  EXPECT_EQ(run, 10);
}

}  // namespace
}  // namespace thinwire::mpi
