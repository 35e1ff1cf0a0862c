#include "shim/mpi/state/pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace thinwire::mpi {
namespace {

TEST(Pool, LendsAtLeastWhatIsAskedFor) {
  Pool pool;
  for (const std::uint64_t bytes : {0, 1, 4095, 4096, 4097, 100000, 1 << 22}) {
    const Lease lease = pool.acquire(bytes);
    ASSERT_TRUE(lease) << bytes;
    EXPECT_FALSE(lease.gpus_reach());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease.data()) % 64, 0u);
    std::memset(lease.data(), 1, bytes);  // the sanitizers watch the end
  }
}

TEST(Pool, LendsTheLastReturnedBufferAgain) {
  Pool pool;
  std::byte* first = nullptr;
  {
    const Lease lease = pool.acquire(5000);
    first = lease.data();
  }
  const std::uint64_t before = pool.allocations();
  const Lease again = pool.acquire(5000);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(pool.allocations(), before);
  const Lease other = pool.acquire(5000);
  EXPECT_NE(other.data(), first);
}

TEST(Pool, RefusesWhatNoMachineHas) {
  Pool pool;
  EXPECT_FALSE(pool.acquire(UINT64_MAX));
  EXPECT_FALSE(pool.acquire((std::uint64_t{1} << 63) + 1));
}

TEST(Pool, MovedLeasesAreGivenBackOnce) {
  Pool pool;
  Lease one = pool.acquire(100);
  std::byte* data = one.data();
  Lease two = std::move(one);
  EXPECT_FALSE(one);
  EXPECT_EQ(two.data(), data);
  two = Lease();
  const Lease again = pool.acquire(100), other = pool.acquire(100);
  EXPECT_NE(again.data(), other.data());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Pool, LendsPagesOfAFileWhereTheSystemHasNoMemory) {
  Pool pool;
  const std::uint64_t loaned = describe_pool(TW_MEMORY_HOST, -1).loaned_bytes;
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4096;  // Linux takes 0 for no limit of its own
  setrlimit(RLIMIT_DATA, &limit);
  Lease lease = pool.acquire(32 << 20);
  limit.rlim_cur = before;
  setrlimit(RLIMIT_DATA, &limit);
  ASSERT_TRUE(lease);
  std::memset(lease.data(), 1, 32 << 20);
  EXPECT_EQ(describe_pool(TW_MEMORY_HOST, -1).loaned_bytes, loaned);
}
#endif

}  // namespace
}  // namespace thinwire::mpi
