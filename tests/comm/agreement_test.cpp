#include <sched.h>

#include <mutex>

#include "comm/agreement.h"
#include "comm/exchange.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

template <typename Body>
void on_ends(int size, Body&& body) {
  auto ends = transport::make_local(size);
  std::vector<std::thread> threads;
  for (auto& end : ends) threads.emplace_back([&] { body(*end); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Agreement, HoldsWhereAllSayTheSame) {
  for (const int size : {1, 2, 3, 8, 13}) {
    on_ends(size, [](transport::Transport& end) {
      EXPECT_TRUE(agree(end, {{"codec", "mpc"}, {"threshold", "1"}}).ok());
    });
  }
}

TEST(Agreement, NamesTheDifferenceOnEveryRank) {
  for (const int size : {2, 5, 8}) {
    for (const int odd : {0, 1, size - 1}) {
      on_ends(size, [&](transport::Transport& end) {
        const bool differs = end.rank() == odd;
        const Status status =
            agree(end, {{"frame format", "0"}, {"codec", differs ? "zfp:rate=8" : "mpc"}});
        EXPECT_EQ(status.code(), StatusCode::kVersion);
        const std::string other = std::to_string(odd == 0 ? 1 : odd);
        EXPECT_EQ(status.message(),
                  odd == 0 ? "the ranks differ: rank 0 has codec=zfp:rate=8, rank 1 has codec=mpc"
                           : "the ranks differ: rank 0 has codec=mpc, rank " + other +
                                 " has codec=zfp:rate=8");
      });
    }
  }
}

TEST(Exchange, BroadcastsFromAnyRoot) {
  for (const int size : {1, 2, 6, 9}) {
    for (int root = 0; root < size; ++root) {
      on_ends(size, [&](transport::Transport& end) {
        std::uint64_t value = end.rank() == root ? 4711 : 0;
        ASSERT_TRUE(broadcast(end, root, std::as_writable_bytes(std::span(&value, 1))).ok());
        EXPECT_EQ(value, 4711u);
      });
    }
  }
}

TEST(Exchange, SumsAreNeverTooSmall) {
  for (const int size : {1, 2, 5, 8, 11}) {
    std::mutex mutex;
    std::vector<double> sums;
    on_ends(size, [&](transport::Transport& end) {
      double values[2] = {0.1, end.rank() == 0 ? 1e300 : 1e-300};
      ASSERT_TRUE(sum_upwards(end, values).ok());
      EXPECT_GE(values[0], 0.1 * size);
      EXPECT_LE(values[0], 0.1 * size * (1 + 1e-14));
      EXPECT_EQ(values[1] > 1e300, size > 1);
      const std::lock_guard lock(mutex);
      sums.push_back(values[0]);
    });
    for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
  }
}

TEST(Exchange, FindsTheLargest) {
  for (const int size : {1, 2, 7, 12}) {
    on_ends(size, [&](transport::Transport& end) {
      std::uint64_t value = end.rank() == size / 2 ? 100 : static_cast<std::uint64_t>(end.rank());
      ASSERT_TRUE(largest(end, &value).ok());
      EXPECT_EQ(value, 100u);
    });
  }
}

TEST(Agreement, GathersANumberOfEachRank) {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    on_ends(size, [&](transport::Transport& end) {
      std::vector<std::uint64_t> all;
      ASSERT_TRUE(gather_all(end, 100 + static_cast<std::uint64_t>(end.rank()), all).ok());
      ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
      for (std::size_t at = 0; at < all.size(); ++at) EXPECT_EQ(all[at], 100 + at);
    });
  }
}

std::vector<int> processors_of_test() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> found;
  for (int each = 0; each < CPU_SETSIZE; ++each) {
    if (CPU_ISSET(each, &set)) found.push_back(each);
  }
  return found;
}

void bind_to(const std::vector<int>& processors, std::size_t count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t at = 0; at < count; ++at) CPU_SET(processors[at], &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

// Rank 0 has all processors to itself; two others are bound to the same single one.
TEST(Agreement, AMaskOfItsOwnIsNotDividedAmongTheRanksOfTheNode) {
  const std::vector<int> all = processors_of_test();
  if (all.size() < 2) GTEST_SKIP() << "one processor";
  auto ends = transport::make_local(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      bind_to(all, rank == 0 ? all.size() : 1);
      Options options;
      options.nodes = {0, 0, 0};
      const auto made = Communicator::create(std::move(ends[rank]), options);
      ASSERT_TRUE(made.ok()) << made.status().message();
      EXPECT_EQ((*made)->processors(), rank == 0 ? all.size() : 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Agreement, OneMaskIsShared) {
  const auto all = processors_of_test().size();
  run_ranks(2, Options{},
            [&](Communicator& communicator) { EXPECT_EQ(communicator.processors(), all / 2); });
}

}  // namespace
}  // namespace thinwire::comm
