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

}  // namespace
}  // namespace thinwire::comm
