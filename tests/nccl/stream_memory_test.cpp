// Memory of calls: what allocates holds up nobody who gives back.
#include "run/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

std::atomic<bool> held{false}, is_allocating{false};
std::vector<void*> released;

}  // namespace

// The core's: as one that waits for a GPU, while it is held.
tw_status tw_scratch_acquire(tw_memory, int32_t, uint64_t bytes, void** made) {
  is_allocating = true;
  while (held) std::this_thread::yield();
  is_allocating = false;
  *made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return TW_OK;
}

void tw_scratch_release(void* memory) { released.push_back(memory); }

namespace thinwire::nccl {
namespace {

using namespace std::chrono_literals;

// Whether `work` is done while another thread allocates.
bool is_done_meanwhile(const std::function<void()>& allocate, const std::function<void()>& work) {
  held = true;
  std::thread other(allocate);
  while (!is_allocating) std::this_thread::yield();
  auto done = std::async(std::launch::async, work);
  const bool is_done = done.wait_for(5s) == std::future_status::ready;
  held = false;
  other.join();
  return is_done;
}

TEST(StreamMemoryTest, IsGivenBackWhileAnotherThreadAllocates) {
  std::uint64_t got = 0;
  void* const working = take_working(0, 1000, &got);
  void* const shared = take_shared(0, 1000);
  const auto give = [&] {
    give_working(working);
    give_shared(0, shared, 1000);
  };
  std::uint64_t more = 0;
  EXPECT_TRUE(is_done_meanwhile([&] { take_working(0, 1 << 20, &more); }, give));
  EXPECT_EQ(take_working(0, 1000, &got), working) << "for use again";
  EXPECT_EQ(take_shared(0, 1000), shared);
}

// Which keep as much of it as their bound says.
TEST(StreamMemoryTest, ThatLiesIdleGoesToTheCoresPools) {
  std::uint64_t got = 0;
  give_idle();
  released.clear();
  void* const idle = take_working(5, 1000, &got);
  void* const used = take_working(6, 1000, &got);
  give_working(idle);
  give_idle();
  EXPECT_EQ(released, std::vector<void*>{idle});
  give_working(used);
  EXPECT_EQ(take_working(6, 1000, &got), used);
}

TEST(StreamMemoryTest, OfTheHostIsGivenBackWhileAnotherThreadPins) {
  void* const working = take_exactly(1, 5000);
  const auto pin = [] {
    for (int block = 0; block < 2; ++block) take_shared(1, 4 << 20);
  };
  EXPECT_TRUE(is_done_meanwhile(pin, [&] { give_working(working); }));
}

// Two that come at once to no slab take one each, and no part of it twice.
TEST(StreamMemoryTest, OfTheHostIsTakenOnce) {
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int at = 0; at < 4; ++at) {
    threads.emplace_back([&, at] {
      for (int block = 0; block < 200; ++block) {
        auto* const mine = static_cast<volatile int*>(take_shared(2, 64 << 10));
        *mine = at;
        std::this_thread::yield();
        if (*mine != at) failed = true;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_FALSE(failed);
}

}  // namespace
}  // namespace thinwire::nccl
