#include "shim/mpi/state/in_place.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "random_elements.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {
namespace {

ByteSet range_at(const void* address, std::size_t bytes) {
  const auto first = reinterpret_cast<std::intptr_t>(address);
  return ByteSet({first, first + static_cast<std::int64_t>(bytes)});
}

Lease filled(Pool& pool, std::size_t bytes, int value) {
  Lease lease = pool.acquire(bytes);
  std::memset(lease.data(), value, bytes);
  return lease;
}

TEST(InPlace, OnlySharedBytesWait) {
  std::vector<std::byte> memory(100);
  Pool pool;
  InPlace in_place;
  InPlace::Reservation reservation = in_place.reserve(range_at(&memory[20], 20));
  EXPECT_FALSE(in_place.reserve(range_at(&memory[39], 5)));
  EXPECT_TRUE(in_place.reserve(range_at(&memory[40], 5)));
  EXPECT_TRUE(in_place.write(filled(pool, 60, 1), 60, {&memory[0], nullptr}));
  EXPECT_TRUE(in_place.write(filled(pool, 10, 2), 10, {&memory[35], nullptr}));
  EXPECT_EQ(memory[19], std::byte{1});
  EXPECT_EQ(memory[20], std::byte{0});
  EXPECT_EQ(memory[39], std::byte{0});
  EXPECT_EQ(memory[40], std::byte{2});
  reservation.end();
  EXPECT_EQ(memory[20], std::byte{1});
  EXPECT_EQ(memory[35], std::byte{2});  // the later delivery
  EXPECT_FALSE(in_place.write(filled(pool, 100, 3), 100, {&memory[0], nullptr}));
  EXPECT_EQ(memory[99], std::byte{3});
}

// Memory that only a function of its own can write, as a GPU's.
TEST(InPlace, BytesAreWrittenByTheCopyThatWasGiven) {
  static std::vector<std::size_t> copied;
  copied.clear();
  const auto copy = [](void* to, const void* from, std::size_t bytes) {
    copied.push_back(bytes);
    std::memcpy(to, from, bytes);
  };
  std::vector<std::byte> memory(100);
  Pool pool;
  InPlace in_place;
  InPlace::Reservation reservation = in_place.reserve(range_at(&memory[20], 20));
  EXPECT_TRUE(in_place.write(filled(pool, 60, 1), 60, {&memory[0], nullptr}, copy));
  EXPECT_EQ(copied, (std::vector<std::size_t>{20, 20}));
  EXPECT_EQ(memory[20], std::byte{0});
  reservation.end();
  EXPECT_EQ(copied, (std::vector<std::size_t>{20, 20, 20}));
  EXPECT_EQ(memory[20], std::byte{1});
  EXPECT_FALSE(in_place.write(filled(pool, 100, 2), 100, {&memory[0], nullptr}, copy));
  EXPECT_EQ(copied.back(), 100u);
}

// Thousands of reservations and their lists come out of memory that was taken once.
TEST(InPlace, ASteadyStateTakesNoMemory) {
  constexpr int kReservations = 2000;
  std::vector<std::byte> memory(64 * kReservations);
  CountingResource system;
  Pool pool;
  InPlace in_place(&system);
  std::uint64_t warm = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<InPlace::Reservation> reservations;
    for (int at = 0; at < kReservations; ++at) {
      reservations.push_back(in_place.reserve(range_at(&memory[64 * at], 64)));
      ASSERT_TRUE(reservations.back());
    }
    EXPECT_EQ(in_place.reservations(), static_cast<std::uint64_t>(kReservations));
    EXPECT_TRUE(in_place.write(filled(pool, 640, 1), 640, {&memory[0], nullptr}));
    reservations.clear();
    if (round == 0) warm = system.allocations();
  }
  EXPECT_GT(warm, 0u);
  EXPECT_EQ(system.allocations(), warm);
}

// Threads that receive into one buffer: what a reservation protects is read back whole.
TEST(InPlace, ThreadsShareABuffer) {
  std::vector<std::byte> memory(4096);
  Pool pool;
  InPlace in_place;
  std::atomic<int> torn{0}, reserved{0}, written{0};
  const auto work = [&](int number) {
    Random random(static_cast<std::uint64_t>(number));
    for (int round = 0; round < 3000; ++round) {
      const auto first = static_cast<std::size_t>(random.below(4000));
      const auto bytes = static_cast<std::size_t>(random.between(1, 96));
      InPlace::Reservation reservation = in_place.reserve(range_at(&memory[first], bytes));
      if (!reservation) {
        in_place.write(filled(pool, bytes, number), bytes, {&memory[first], nullptr});
        ++written;
        continue;
      }
      ++reserved;
      std::memset(&memory[first], 100 + number, bytes);
      if (round % 16 == 0) std::this_thread::yield();
      for (std::size_t at = first; at < first + bytes; ++at) {
        torn += memory[at] != static_cast<std::byte>(100 + number);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_GT(reserved, 0);
  EXPECT_EQ(in_place.reservations(), 0u);
}

}  // namespace
}  // namespace thinwire::mpi
