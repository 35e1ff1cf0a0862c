// Memory for small records of a process that is refused more.
#include "shim/common/spare_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace thinwire::shim {
namespace {

TEST(SpareMemory, GivesBlocksThatDoNotOverlapAndTakesThemBack) {
  const auto spare = std::make_unique<SpareMemory>();
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (const std::size_t bytes : {1, 31, 32, 33, 64, 65, 4096, 65535, 65536}) {
    auto* const at = static_cast<unsigned char*>(spare->take(bytes));
    ASSERT_NE(at, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t), 0U);
    EXPECT_TRUE(spare->holds(at));
    std::memset(at, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(at, bytes);
  }
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    for (std::size_t i = 0; i < blocks[n].second; ++i) ASSERT_EQ(blocks[n].first[i], n);
  }
  for (const auto& [at, bytes] : blocks) {
    spare->give_back(at);
    EXPECT_EQ(spare->take(bytes), at);
  }
}

TEST(SpareMemory, RefusesWhatIsTooLargeAndWhatItHasNoMore) {
  const auto spare = std::make_unique<SpareMemory>();
  EXPECT_EQ(spare->take(SpareMemory::kLargest + 1), nullptr);
  std::size_t blocks = 0;
  void* last = nullptr;
  while (void* const at = spare->take(SpareMemory::kLargest)) {
    last = at;
    ++blocks;
  }
  EXPECT_EQ(blocks, 63U);  // each has a few bytes before it
  spare->give_back(last);
  EXPECT_EQ(spare->take(SpareMemory::kLargest), last);
  int elsewhere = 0;
  EXPECT_FALSE(spare->holds(&elsewhere));
}

TEST(SpareMemory, ServesManyThreads) {
  const auto spare = std::make_unique<SpareMemory>();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&spare, number] {
      for (int round = 0; round < 2000; ++round) {
        auto* const at = static_cast<unsigned char*>(spare->take(200));
        ASSERT_NE(at, nullptr);
        std::memset(at, number, 200);
        for (int i = 0; i < 200; ++i) ASSERT_EQ(at[i], number);
        spare->give_back(at);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace thinwire::shim
