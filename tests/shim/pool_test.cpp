#include "wire/pool.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace thinwire::mpi {
namespace {

TEST(Pool, LendsAtLeastWhatIsAskedFor) {
  Pool pool;
  for (const std::uint64_t bytes : {0, 1, 4095, 4096, 4097, 100000, 1 << 22}) {
    const Lease lease = pool.acquire(bytes);
    ASSERT_TRUE(lease) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease.data()) % 64, 0u);
    std::memset(lease.data(), 1, bytes);  // the sanitizers watch the end
  }
}

TEST(Pool, LendsTheLastReturnedBufferAgain) {
  Pool pool;
  pool.set_idle_bound(1 << 20);
  std::byte* first = nullptr;
  {
    const Lease lease = pool.acquire(5000);
    first = lease.data();
  }
  const Lease again = pool.acquire(8192);  // of the same size class
  EXPECT_EQ(again.data(), first);
  const Lease other = pool.acquire(8192);
  EXPECT_NE(other.data(), first);
}

std::uint64_t allocated_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Pool, KeepsNoMoreIdleThanItsBound) {
  constexpr std::uint64_t kBuffer = 64 << 10;
  Pool pool;
  pool.set_idle_bound(2 * kBuffer);
  const std::uint64_t before = allocated_bytes();
  {
    std::vector<Lease> leases;
    for (int at = 0; at < 50; ++at) leases.push_back(pool.acquire(kBuffer));
  }
  EXPECT_LT(allocated_bytes(), before + 4 * kBuffer);
}

TEST(Pool, RefusesWhatNoMachineHas) {
  Pool pool;
  EXPECT_FALSE(pool.acquire(UINT64_MAX));
  EXPECT_FALSE(pool.acquire((std::uint64_t{1} << 63) + 1));
}

TEST(Pool, MovedLeasesAreGivenBackOnce) {
  Pool pool;
  pool.set_idle_bound(1 << 20);
  Lease one = pool.acquire(100);
  std::byte* data = one.data();
  Lease two = std::move(one);
  EXPECT_FALSE(one);
  EXPECT_EQ(two.data(), data);
  two = Lease();
  const Lease again = pool.acquire(100), other = pool.acquire(100);
  EXPECT_NE(again.data(), other.data());
}

TEST(Pool, ThreadsNeverShareABuffer) {
  Pool pool;
  pool.set_idle_bound(1 << 16);
  std::vector<std::thread> threads;
  std::vector<int> torn(4, 0);
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < 500; ++round) {
        const Lease lease = pool.acquire(4096 << round % 3);
        std::memset(lease.data(), number, 4096);
        std::this_thread::yield();
        for (int at = 0; at < 4096; ++at) torn[number] += lease.data()[at] != std::byte(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : torn) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace thinwire::mpi
