// The device layer's host code, and the messages' over it, on a CUDA whose work runs late.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "codec/registry.h"
#include "codec/spec.h"
#include "device/copy.h"
#include "device/launch.h"
#include "device/pool.h"
#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"
#include "message/automatic.h"
#include "message/host.h"

namespace thinwire {
namespace {

using device::Memory;

constexpr std::uint64_t kCount = 100'000;
const codec::Chunk kArray{Dtype::kF32, Shape::line(kCount)};

std::vector<std::byte> values_of(unsigned seed) {
  std::vector<std::byte> values(kArray.raw_bytes());
  for (std::uint32_t at = 0; at < kCount; ++at) store(values.data() + 4 * at, at * 7919 + seed);
  return values;
}

std::vector<std::byte> frame_of(const std::vector<std::byte>& values) {
  std::vector<std::byte> frame(*message::bound(message::raw_coder(), kArray));
  const auto written = message::encode(message::raw_coder(), kArray, values.data(), frame, {});
  EXPECT_TRUE(written.ok()) << written.status().message();
  frame.resize(*written);
  return frame;
}

std::uint64_t loaned() {
  return device::describe_pool(Memory::kPinned, -1).loaned_bytes +
         device::describe_pool(Memory::kDevice, 0).loaned_bytes +
         device::describe_pool(Memory::kDevice, 1).loaned_bytes;
}

class HostCode : public testing::Test {
 protected:
  // Whatever a call came to, nothing of it is under way any more, and nothing on loan.
  void TearDown() override {
    EXPECT_EQ(fake_cuda::pending(), 0u);
    EXPECT_EQ(loaned(), 0u);
  }
};

TEST_F(HostCode, ArraysGoThereAndBack) {
  const auto values = values_of(1);
  const auto expected = frame_of(values);
  std::byte* const source = fake_cuda::allocate(0, values.size());
  std::memcpy(source, values.data(), values.size());
  for (const int device : {0, 1}) {
    std::byte* const frame = fake_cuda::allocate(device, 2 * values.size());
    const auto written =
        message::encode(message::raw_coder(), kArray, source, {frame, 2 * values.size()}, {});
    ASSERT_TRUE(written.ok()) << written.status().message();
    ASSERT_EQ(*written, expected.size());
    EXPECT_EQ(std::memcmp(frame, expected.data(), expected.size()), 0);
    for (const int to : {0, 1}) {
      std::byte* const out = fake_cuda::allocate(to, values.size());
      const auto info =
          message::decode({frame, *written}, {out, values.size()}, frame::file_mark());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(std::memcmp(out, values.data(), values.size()), 0);
    }
  }
}

// Ones and NaN, in runs of 100.
std::vector<std::byte> values_with_holes() {
  std::vector<std::byte> values(kArray.raw_bytes());
  for (std::uint32_t at = 0; at < kCount; ++at) {
    store(values.data() + 4 * at, at / 100 % 3 == 0 ? 0x7FC00000u : 0x3F800000u + (at << 16) % 64);
  }
  return values;
}

TEST_F(HostCode, MissingValuesAreCodedWhereTheArrayLies) {
  const auto spec = codec::parse_spec("cast:to=bf16,fill=nan");
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  const message::Coder coder{
      .codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  const std::vector<std::byte> values = values_with_holes();
  std::vector<std::byte> expected(*message::bound(coder, kArray));
  const auto length = message::encode(coder, kArray, values.data(), expected, {});
  ASSERT_TRUE(length.ok()) << length.status().message();
  EXPECT_TRUE(message::inspect(expected, frame::file_mark())->header.has_fill);
  std::byte* const source = fake_cuda::allocate(0, values.size());
  std::memcpy(source, values.data(), values.size());
  std::vector<std::byte> here(expected.size());
  std::byte* const there = fake_cuda::allocate(0, expected.size());
  std::byte* const elsewhere = fake_cuda::allocate(1, expected.size());
  for (std::byte* const to : {here.data(), there, elsewhere}) {
    const auto written =
        message::encode(coder, kArray, source, {to, expected.size()}, {.decline = true});
    ASSERT_TRUE(written.ok()) << written.status().message();
    ASSERT_EQ(*written, *length);
    EXPECT_EQ(std::memcmp(to, expected.data(), *length), 0);
  }
  for (std::byte* const from : {here.data(), there}) {
    for (const int device : {0, 1}) {
      std::byte* const out = fake_cuda::allocate(device, values.size());
      const auto info = message::decode({from, *length}, {out, values.size()}, frame::file_mark());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(std::memcmp(out, values.data(), values.size()), 0);
    }
  }
}

// Nothing is missing of an array of nothing: its frame is a raw one.
TEST_F(HostCode, AnEmptyArrayMissesNothing) {
  const auto spec = codec::parse_spec("cast:to=bf16,fill=auto");
  const message::Coder coder{
      .codec = spec->codec, .parameter = spec->parameter, .fill = spec->fill};
  const codec::Chunk array{Dtype::kF32, Shape::line(0)};
  std::byte* const source = fake_cuda::allocate(0, 16);
  std::vector<std::byte> none(16), here(*message::bound(coder, array)), there(here.size());
  const auto expected = message::encode(coder, array, none.data(), here, {});
  const auto written = message::encode(coder, array, source, there, {});
  ASSERT_TRUE(expected.ok() && written.ok()) << written.status().message();
  EXPECT_EQ(*written, *expected);
  EXPECT_EQ(std::memcmp(here.data(), there.data(), *written), 0);
}

// The frame is on its way to the GPU when its chunk table is found too short.
TEST_F(HostCode, ADamagedFrameIsLetGoOfOnceItsCopyIsOver) {
  frame::Header header;
  header.dtype = Dtype::kF32;
  header.shape = Shape::line(1 << 20);
  header.body_bytes = 8;
  std::vector<std::byte> frame(header.frame_bytes());
  frame::pack(header, frame::file_mark(), frame.data());
  std::byte* const out = fake_cuda::allocate(0, std::uint64_t{4} << 20);
  const auto info = message::decode(frame, {out, std::size_t{4} << 20}, frame::file_mark());
  EXPECT_EQ(info.status().code(), StatusCode::kDamaged);
}

TEST_F(HostCode, AKernelThatIsRefusedLeavesNothingUnderWay) {
  const auto values = values_of(2);
  std::byte* const source = fake_cuda::allocate(0, values.size());
  std::byte* const frame = fake_cuda::allocate(1, 2 * values.size());
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == 0) fake_cuda::fail_next_launch(cudaErrorLaunchFailure);
    const auto written =
        message::encode(message::raw_coder(), kArray, source, {frame, 2 * values.size()}, {});
    EXPECT_EQ(written.ok(), turn == 1) << written.status().message();
    EXPECT_EQ(loaned(), 0u);
  }
}

TEST_F(HostCode, WhatIsReleasedTwiceIsLentOnce) {
  auto lease = device::acquire_pinned(1 << 20);
  ASSERT_TRUE(lease.ok());
  std::byte* const data = lease->release();
  device::give_back(data);
  device::give_back(data);
  std::vector<device::Lease> others;
  std::vector<std::byte*> seen;
  for (int turn = 0; turn < 6; ++turn) {
    auto other = device::acquire_pinned(1 << 20);
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), other->data()), 0);
    seen.push_back(other->data());
    others.push_back(std::move(*other));
  }
  int elsewhere = 0;
  device::give_back(reinterpret_cast<std::byte*>(&elsewhere));
}

// A rank that works on GPU 1: pinned memory is of the process, and a context of GPU 0 takes half a
// GiB there. In a process of its own, as what contexts there are is kept.
TEST(PinnedMemory, MakesNoContextOfAnotherGpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto pin = [](bool with_current) {
    fake_cuda::end_context(0);
    fake_cuda::use(with_current ? 1 : -1);
    auto lease = device::acquire_pinned(1 << 20);
    std::exit(lease.ok() && !fake_cuda::has_context(0) ? 0 : 1);
  };
  EXPECT_EXIT(pin(true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(pin(false), testing::ExitedWithCode(0), "") << "a thread that has no context";
}

// From GPU 0 to GPU 1, after a stream of GPU 1 that is still to write the frame.
TEST_F(HostCode, AStreamOfAnotherGpuIsWaitedFor) {
  const auto values = values_of(3);
  const auto expected = frame_of(values);
  for (const int of : {0, 1}) {
    std::byte* const frame = fake_cuda::allocate(0, expected.size());
    std::byte* const out = fake_cuda::allocate(1, values.size());
    const cudaStream_t stream = fake_cuda::make_stream(of);
    fake_cuda::enqueue(stream, [&] { std::memcpy(frame, expected.data(), expected.size()); });
    const auto info =
        message::decode({frame, expected.size()}, {out, values.size()}, frame::file_mark(), stream);
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(std::memcmp(out, values.data(), values.size()), 0);
  }
}

TEST_F(HostCode, AutoBetweenGpusNeedsNoPinnedMemory) {
  const auto values = values_of(4);
  std::byte* const source = fake_cuda::allocate(0, values.size());
  std::memcpy(source, values.data(), values.size());
  std::byte* const frame = fake_cuda::allocate(1, 2 * values.size());
  const auto before = device::describe_pool(Memory::kPinned, -1).loans;
  const auto written =
      message::encode_automatically(kArray, source, {frame, 2 * values.size()}, {}, {});
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(device::describe_pool(Memory::kPinned, -1).loans, before);
}

TEST_F(HostCode, CopiesRunInTheOrderOfTheirStarts) {
  std::byte* const first = fake_cuda::allocate(0, 64);
  std::byte* const second = fake_cuda::allocate(0, 64);
  std::byte* const third = fake_cuda::allocate(0, 64);
  std::memset(first, 1, 64);
  std::memset(second, 2, 64);
  const auto one = device::start_copy(second, first, 64, 0);
  const auto two = device::start_copy(third, second, 64, 0);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(device::finish_copy(*two).ok());
  EXPECT_EQ(third[63], std::byte{1});
  EXPECT_TRUE(device::finish_copy(*one).ok());
}

void no_kernel(int) {}

TEST_F(HostCode, ALaunchSaysWhatCameOfItAlone) {
  const cudaStream_t stream = fake_cuda::make_stream(0);
  ASSERT_EQ(cudaHostUnregister(nullptr), cudaErrorNotSupported);  // a failure of somebody else's
  const int before = fake_cuda::launches();
  EXPECT_TRUE(device::launch("cannot", no_kernel, {1, 32}, stream, 7).ok());
  cudaStreamSynchronize(stream);
  EXPECT_EQ(fake_cuda::launches(), before + 1);
  fake_cuda::fail_next_launch(cudaErrorInvalidConfiguration);
  EXPECT_EQ(device::launch("cannot", no_kernel, {1, 32}, stream, 7).code(), StatusCode::kDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_TRUE(device::launch("cannot", no_kernel, {1, 32}, stream, 7).ok());
  cudaStreamSynchronize(stream);
}

// Two devices that are not alike have a limit each.
TEST(SharedLimit, IsTheCurrentDevices) {
  const int before = fake_cuda::current_device();
  for (const int device : {0, 1, 0}) {
    fake_cuda::current_device() = device;
    EXPECT_EQ(device::shared_limit(), static_cast<unsigned>(fake_cuda::kSharedBytes[device]));
    EXPECT_EQ(device::has_small_blocks(), device == 0);
  }
  fake_cuda::current_device() = before;
}

}  // namespace
}  // namespace thinwire
