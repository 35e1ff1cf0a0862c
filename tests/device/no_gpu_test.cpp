// GPU functions of the C ABI in a process that has no GPU or does not use it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

bool has_gpu() {
  uint32_t count = 0;
  return tw_device_count(&count) == TW_OK && count > 0;
}

TEST(NoGpu, HostMemoryIsHostMemory) {
  const int on_stack = 0;
  const std::vector<char> on_heap(100);
  void* mapped = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const void* pointers[] = {nullptr, &on_stack,      on_heap.data(),
                            mapped,  "static bytes", reinterpret_cast<const void*>(&strlen)};
  for (const void* pointer : pointers) {
    tw_place place{};
    place.size = sizeof place;
    ASSERT_EQ(tw_place_of(pointer, &place), TW_OK);
    EXPECT_EQ(place.memory, TW_MEMORY_HOST);
    EXPECT_EQ(place.device, -1);
    EXPECT_EQ(tw_on_device(pointer), 0u);
  }
  munmap(mapped, 1 << 20);
}

TEST(NoGpu, CopiesHostMemoryWithoutAGpu) {
  const std::string from = "seventeen letters";
  std::string to(from.size(), '.');
  EXPECT_EQ(tw_memory_copy(to.data(), from.data(), from.size()), TW_OK);
  EXPECT_EQ(to, from);
  to.assign(from.size(), '.');
  tw_copy* copy = nullptr;
  ASSERT_EQ(tw_memory_copy_start(to.data(), from.data(), from.size(), &copy), TW_OK);
  EXPECT_EQ(tw_copy_finish(copy), TW_OK);
  EXPECT_EQ(to, from);
  EXPECT_EQ(tw_memory_copy(nullptr, nullptr, 0), TW_OK);
  EXPECT_EQ(tw_memory_copy(to.data(), nullptr, 1), TW_INVALID_ARGUMENT);
}

TEST(NoGpu, ScratchIsRefusedReadably) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  uint32_t count = 7;
  EXPECT_NE(tw_device_count(&count), TW_OK);
  EXPECT_EQ(count, 7u);
  for (const tw_memory memory : {TW_MEMORY_PINNED, TW_MEMORY_DEVICE}) {
    void* scratch = &count;
    const tw_status status = tw_scratch_acquire(memory, 0, 100, &scratch);
    EXPECT_TRUE(status == TW_DEVICE || status == TW_UNSUPPORTED) << status;
    EXPECT_EQ(scratch, &count);
    EXPECT_STRNE(tw_last_error(), "");
  }
  void* scratch = nullptr;
  EXPECT_EQ(tw_scratch_acquire(TW_MEMORY_MANAGED, 0, 100, &scratch), TW_INVALID_ARGUMENT);
  tw_scratch_release(nullptr);
}

TEST(NoGpu, PoolsStartEmpty) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  tw_pool_counters counters{};
  EXPECT_EQ(tw_pool_describe(TW_MEMORY_PINNED, 0, &counters), TW_INVALID_ARGUMENT);
  counters.size = sizeof counters;
  ASSERT_EQ(tw_pool_describe(TW_MEMORY_PINNED, 0, &counters), TW_OK);
  EXPECT_EQ(counters.idle_bytes + counters.loaned_bytes + counters.allocations + counters.loans,
            0u);
}

TEST(NoGpu, LayoutsNeedGpuMemory) {
  const tw_segment segments[] = {{0, 8}, {16, 8}};
  tw_layout* layout = nullptr;
  ASSERT_EQ(tw_layout_create(segments, 2, 32, &layout), TW_OK);
  char elements[64] = {};
  char packed[32] = {};
  EXPECT_EQ(tw_layout_pack(layout, elements, packed, 0), TW_OK);
  EXPECT_EQ(tw_layout_pack(layout, elements, packed, 32), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_layout_unpack(layout, packed, elements, 32), TW_INVALID_ARGUMENT);
  tw_layout_destroy(layout);
  const tw_segment endless[] = {{0, UINT64_MAX}, {-8, 8}};
  EXPECT_EQ(tw_layout_create(endless, 2, 32, &layout), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_layout_create(nullptr, 1, 32, &layout), TW_INVALID_ARGUMENT);
}

TEST(NoGpu, EnqueueingNeedsGpuMemory) {
  tw_codec* codec = nullptr;
  ASSERT_EQ(tw_codec_create("mpc:stride=1", &codec), TW_OK);
  const tw_shape shape{TW_F32, 1, {1024}};
  uint64_t workspace_bytes = 0;
  const tw_status status = tw_message_workspace(codec, &shape, &workspace_bytes);
  EXPECT_TRUE(status == TW_OK || status == TW_UNSUPPORTED);
  std::vector<char> memory(100000);
  uint64_t outcome = 0;
  EXPECT_NE(tw_message_encode_enqueue(codec, &shape, memory.data(), memory.data() + 20000, 50000,
                                      nullptr, memory.data() + 80000, 20000, &outcome),
            TW_OK);
  EXPECT_EQ(outcome, 0u);
  uint64_t bytes = 0;
  EXPECT_EQ(tw_outcome_read(outcome, &bytes), TW_INVALID_ARGUMENT);
  tw_codec_destroy(codec);
}

}  // namespace
