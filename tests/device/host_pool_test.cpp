// The pool of host memory, through the C API.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

tw_pool_counters counters() {
  tw_pool_counters counters{};
  counters.size = sizeof counters;
  EXPECT_EQ(tw_pool_describe(TW_MEMORY_HOST, -1, &counters), TW_OK);
  return counters;
}

std::byte* acquire(std::uint64_t bytes) {
  void* scratch = nullptr;
  EXPECT_EQ(tw_scratch_acquire(TW_MEMORY_HOST, -1, bytes, &scratch), TW_OK) << tw_last_error();
  return static_cast<std::byte*>(scratch);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
rlim_t addresses() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}
#endif

// One pool a process: each test begins with nothing idle.
class HostPool : public testing::Test {
 protected:
  void SetUp() override { empty(64 * kMiB); }
  void TearDown() override {
    EXPECT_EQ(counters().loaned_bytes, 0u);
    empty(2048 * kMiB);
  }

 private:
  static void empty(std::uint64_t bound) {
    tw_pool_set_idle_bound(0);
    EXPECT_EQ(counters().idle_bytes, 0u);
    tw_pool_set_idle_bound(bound);
  }
};

TEST_F(HostPool, LendsAtLeastWhatIsAskedFor) {
  for (const std::uint64_t bytes : {0, 1, 4095, 4096, 4097, 100000, 1 << 22}) {
    std::byte* const data = acquire(bytes);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
    std::memset(data, 1, bytes);  // the sanitizers watch the end
    tw_scratch_release(data);
  }
}

TEST_F(HostPool, CountsWhatItDoes) {
  const tw_pool_counters before = counters();
  std::byte* const first = acquire(5000);
  std::byte* const second = acquire(5100);
  EXPECT_EQ(counters().loaned_bytes, 2 * 5120u);
  EXPECT_EQ(counters().idle_bytes, 0u);
  tw_scratch_release(first);
  EXPECT_EQ(counters().loaned_bytes, 5120u);
  EXPECT_EQ(counters().idle_bytes, 5120u);
  EXPECT_EQ(acquire(5000), first);
  EXPECT_EQ(counters().loans, before.loans + 3);
  EXPECT_EQ(counters().allocations, before.allocations + 2);
  tw_scratch_release(first);
  tw_scratch_release(second);
}

TEST_F(HostPool, KeepsNoMoreIdleThanItsBound) {
  tw_pool_set_idle_bound(2 * kMiB);
  std::vector<std::byte*> loans;
  for (int at = 0; at < 50; ++at) loans.push_back(acquire(kMiB));
  EXPECT_EQ(counters().loaned_bytes, 50 * kMiB);
  EXPECT_GE(counters().peak_bytes, 50 * kMiB);
  const std::uint64_t peak = counters().peak_bytes;
  for (std::byte* loan : loans) tw_scratch_release(loan);
  EXPECT_EQ(counters().idle_bytes, 2 * kMiB);
  tw_scratch_release(acquire(3 * kMiB));
  EXPECT_EQ(counters().peak_bytes, peak);
  EXPECT_LE(counters().idle_bytes, 2 * kMiB);
}

// Sizes that nobody asks for any more make room for those that are asked for.
TEST_F(HostPool, TheSizeOfLongAgoGoesFirst) {
  tw_pool_set_idle_bound(4 * kMiB);
  tw_scratch_release(acquire(kMiB));
  tw_scratch_release(acquire(2 * kMiB));
  tw_scratch_release(acquire(kMiB));
  const std::uint64_t before = counters().allocations;
  tw_scratch_release(acquire(3 * kMiB));
  EXPECT_EQ(counters().idle_bytes, 4 * kMiB);  // without that of 2 MiB
  tw_scratch_release(acquire(3 * kMiB));
  tw_scratch_release(acquire(kMiB));
  EXPECT_EQ(counters().allocations, before + 1);
}

// Sanitizers end the process if they cannot give what is asked for.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(HostPool, RefusesWhatNoMachineHas) {
  void* scratch = nullptr;
  tw_scratch_release(acquire(kMiB));
  for (const std::uint64_t bytes : {std::uint64_t{1} << 55, UINT64_MAX}) {
    EXPECT_EQ(tw_scratch_acquire(TW_MEMORY_HOST, -1, bytes, &scratch), TW_INTERNAL);
  }
  EXPECT_EQ(counters().idle_bytes, kMiB);  // giving it up would not have helped
}

TEST_F(HostPool, GivesUpWhatLiesIdleWhereTheSystemHasNoMore) {
  tw_pool_set_idle_bound(256 * kMiB);
  tw_scratch_release(acquire(128 * kMiB));
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = addresses() + 64 * kMiB;
  setrlimit(RLIMIT_AS, &limit);
  tw_scratch_release(acquire(96 * kMiB));
  limit.rlim_cur = before;
  setrlimit(RLIMIT_AS, &limit);
  EXPECT_EQ(counters().idle_bytes, 96 * kMiB);
}
#endif

TEST_F(HostPool, WhatIsReleasedTwiceIsLentOnce) {
  std::byte* const data = acquire(100);
  tw_scratch_release(data);
  tw_scratch_release(data);
  int elsewhere = 0;
  tw_scratch_release(&elsewhere);
  std::byte* const one = acquire(100);
  std::byte* const other = acquire(100);
  EXPECT_NE(one, other);
  tw_scratch_release(one);
  tw_scratch_release(other);
}

TEST_F(HostPool, ThreadsNeverShareABuffer) {
  tw_pool_set_idle_bound(1 << 16);
  std::vector<std::thread> threads;
  std::vector<int> torn(4, 0);
  for (std::size_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < 500; ++round) {
        std::byte* const data = acquire(std::uint64_t{4096} << round % 3);
        std::memset(data, static_cast<int>(number), 4096);
        std::this_thread::yield();
        for (int at = 0; at < 4096; ++at) torn[number] += data[at] != std::byte(number);
        tw_scratch_release(data);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : torn) EXPECT_EQ(count, 0);
  EXPECT_LE(counters().idle_bytes, 1u << 16);
}

}  // namespace
