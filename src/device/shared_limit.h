// Shared memory of thread blocks: what the GPU may give one. CUDA builds only.
#pragma once

#include <cstdint>

namespace thinwire::device {

// Most shared memory of a thread block, dynamic and static together, on the least GPU that the
// library runs on (compute capability 7.5), and on every one from 8.0 on.
inline constexpr std::uint32_t kLeastSharedBytes = 64 * 1024;
inline constexpr std::uint32_t kCommonSharedBytes = 99 * 1024;

// The part of it that kernels leave to their static shared memory.
inline constexpr std::uint32_t kStaticSharedBytes = 512;

// The current device's. All devices are asked once, at the first call; later calls cost a load
// where they are alike. THINWIRE_TEST_SHARED_BYTES, for tests, makes it less.
std::uint32_t shared_limit();

// Whether the current device has less than kCommonSharedBytes: it runs code for compute
// capabilities below 8.0 then, whose kernels take less.
inline bool has_small_blocks() { return shared_limit() < kCommonSharedBytes; }

}  // namespace thinwire::device
