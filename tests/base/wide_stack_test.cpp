#include "base/wide_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "small_stack.h"

namespace thinwire {
namespace {

// Under these everything runs where it is called.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSwitches = false;
#else
constexpr bool kSwitches = true;
#endif

// As much as a codec takes.
[[gnu::noinline]] int use_much(int value) {
  volatile char much[140 << 10];
  for (std::size_t at = 0; at < sizeof much; at += 512) much[at] = static_cast<char>(value);
  return much[0] + much[sizeof much - 512];
}

TEST(WideStack, WorkRunsInPlaceWhereThereIsRoom) {
  char here = 0;
  const auto far = on_wide_stack([&] {
    char there = 0;
    return reinterpret_cast<std::intptr_t>(&here) - reinterpret_cast<std::intptr_t>(&there);
  });
  EXPECT_TRUE(stack_is_wide());
  EXPECT_LT(std::abs(far), 64 << 10);
}

TEST(WideStack, ASmallThreadRunsWhatNeedsMore) {
  if (!kSwitches) GTEST_SKIP() << "not under a sanitizer";
  int got = 0;
  const pthread_t before = pthread_self();
  run_on_small_stack(64 << 10, [&] {
    EXPECT_FALSE(stack_is_wide());
    const pthread_t own = pthread_self();
    EXPECT_FALSE(pthread_equal(own, before));
    got = on_wide_stack([&] {
      EXPECT_TRUE(pthread_equal(own, pthread_self()));
      return use_much(21);
    });
  });
  EXPECT_EQ(got, 42);
}

TEST(WideStack, WhatIsThrownArrives) {
  run_on_small_stack(64 << 10, [] {
    const auto throws = [](int value) -> int { throw std::out_of_range(std::to_string(value)); };
    EXPECT_THROW(on_wide_stack([&] { return throws(7); }), std::out_of_range);
    EXPECT_EQ(on_wide_stack([] { return 3; }), 3);
  });
}

TEST(WideStack, ManyThreadsAtOnceHaveTheirOwn) {
  if (!kSwitches) GTEST_SKIP() << "not under a sanitizer";
  std::vector<pthread_t> threads(20);
  for (pthread_t& thread : threads) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    const auto body = [](void*) -> void* {
      std::size_t bad = 0;
      for (int round = 0; round < 200; ++round) {
        bad += on_wide_stack([&] { return use_much(round % 60); }) != 2 * (round % 60);
      }
      return reinterpret_cast<void*>(bad);
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
  }
  for (const pthread_t thread : threads) {
    void* bad = nullptr;
    pthread_join(thread, &bad);
    EXPECT_EQ(bad, nullptr);
  }
}

ucontext_t g_main, g_fiber;
int g_got = 0;

// A fiber's stack lies in memory of the program's own.
TEST(WideStack, AFiberCountsAsSmall) {
  if (!kSwitches) GTEST_SKIP() << "not under a sanitizer";
  std::vector<char> stack(32 << 10);
  getcontext(&g_fiber);
  g_fiber.uc_stack.ss_sp = stack.data();
  g_fiber.uc_stack.ss_size = stack.size();
  g_fiber.uc_link = &g_main;
  makecontext(&g_fiber, [] { g_got = on_wide_stack([] { return use_much(11); }); }, 0);
  swapcontext(&g_main, &g_fiber);
  EXPECT_EQ(g_got, 22);
}

}  // namespace
}  // namespace thinwire
