// GPU memory that the program gives: taken, given back to whoever gave it, refused.
#include "device/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "fake_cuda/fake_cuda.h"

namespace thinwire::device {
namespace {

// A program's allocator that keeps books.
struct Books {
  std::map<void*, std::uint64_t> given;
  int allocations = 0;
  bool is_empty = false;     // it has no memory
  std::uint64_t offset = 0;  // of what it gives, from where it should be

  Allocator functions() { return {this, &allocate, &release}; }

  static std::int32_t allocate(void* context, std::int32_t gpu, std::uint64_t bytes,
                               void** memory) {
    auto& self = *static_cast<Books*>(context);
    if (self.is_empty) return 1;
    ++self.allocations;
    *memory = fake_cuda::allocate(gpu, bytes + 256) + self.offset;
    self.given[*memory] = bytes;
    return 0;
  }

  static void release(void* context, std::int32_t, void* memory, std::uint64_t bytes) {
    auto& self = *static_cast<Books*>(context);
    ASSERT_EQ(self.given.at(memory), bytes);
    self.given.erase(memory);
  }
};

// Sizes that no other test takes. The pool keeps nothing more idle meanwhile.
class ProgramsMemory : public testing::Test {
 protected:
  void SetUp() override { set_idle_bound(0); }
  void TearDown() override {
    set_allocator(nullptr);
    set_idle_bound(std::uint64_t{512} << 20);
  }
  static constexpr int kGpu = 1;
  static constexpr std::uint64_t kBytes = std::uint64_t{40} << 20;
};

TEST_F(ProgramsMemory, IsTakenAndGivenBack) {
  Books books;
  const Allocator functions = books.functions();
  set_allocator(&functions);
  {
    const auto lease = acquire_device(kGpu, kBytes);
    ASSERT_TRUE(lease.ok());
    ASSERT_EQ(books.given.size(), 1u);
    EXPECT_TRUE(books.given.contains(lease->data()));
    EXPECT_GE(books.given.begin()->second, kBytes);
  }
  EXPECT_TRUE(books.given.empty());
  EXPECT_EQ(books.allocations, 1);  // nothing beforehand
}

TEST_F(ProgramsMemory, StaysWithThePoolUpToItsBound) {
  Books books;
  const Allocator functions = books.functions();
  set_allocator(&functions);
  set_idle_bound(describe_pool(Memory::kDevice, kGpu).idle_bytes + 2 * kBytes);
  for (int turn = 0; turn < 3; ++turn) ASSERT_TRUE(acquire_device(kGpu, kBytes).ok());
  EXPECT_EQ(books.allocations, 1);
  EXPECT_EQ(books.given.size(), 1u);
  // Idle memory is the first allocator's, whoever gives memory by then.
  set_allocator(nullptr);
  set_idle_bound(0);
  ASSERT_TRUE(acquire_device(kGpu, kBytes).ok());
  EXPECT_TRUE(books.given.empty());
}

TEST_F(ProgramsMemory, GoesBackToWhoeverGaveIt) {
  Books first, second;
  const Allocator one = first.functions(), other = second.functions();
  set_allocator(&one);
  auto from_first = acquire_device(kGpu, kBytes);
  set_allocator(&other);
  auto from_second = acquire_device(kGpu, kBytes);
  set_allocator(nullptr);
  auto from_driver = acquire_device(kGpu, kBytes);
  ASSERT_TRUE(from_first.ok() && from_second.ok() && from_driver.ok());
  EXPECT_EQ(first.given.size() + second.given.size(), 2u);
  from_first = acquire_device(kGpu, kBytes);
  EXPECT_TRUE(first.given.empty());
  EXPECT_EQ(second.given.size(), 1u);
}

TEST_F(ProgramsMemory, ThatIsNotThereOrNotAlignedIsAnError) {
  Books books;
  const Allocator functions = books.functions();
  set_allocator(&functions);
  books.is_empty = true;
  EXPECT_EQ(acquire_device(kGpu, kBytes).status().code(), StatusCode::kDevice);
  books.is_empty = false;
  books.offset = 128;
  EXPECT_EQ(acquire_device(kGpu, kBytes).status().code(), StatusCode::kDevice);
  EXPECT_TRUE(books.given.empty());
  EXPECT_EQ(describe_pool(Memory::kDevice, kGpu).loaned_bytes, 0u);
}

}  // namespace
}  // namespace thinwire::device
