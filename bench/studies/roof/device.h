// CUDA; or to look for mistakes without a GPU, the functions that the kernels use, made of the
// host's threads: a thread each, warps and thread blocks meet at barriers, and blocks run one after
// the other.
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define SHARED_WORDS extern __shared__ uint4 shared_words[]
#else
#include <array>
#include <barrier>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
#define SHARED_WORDS uint4* shared_words = emulated::shared.data()

struct uint2 {
  std::uint32_t x, y;
};
struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};

namespace emulated {
struct Index {
  unsigned x;
};
struct Warp {
  std::barrier<> all{32};
  std::array<std::uint32_t, 32> values;
};
inline std::vector<std::unique_ptr<Warp> > warps;
inline std::unique_ptr<std::barrier<> > block;
inline std::vector<uint4> shared;
}  // namespace emulated

inline thread_local emulated::Index threadIdx, blockIdx;

namespace emulated {
// Returns what `read` makes of the values of all lanes.
template <typename Read>
auto exchange(std::uint32_t value, const Read& read) {
  Warp& warp = *warps[threadIdx.x / 32];
  warp.values[threadIdx.x % 32] = value;
  warp.all.arrive_and_wait();
  const auto got = read(warp.values);
  warp.all.arrive_and_wait();
  return got;
}

template <typename Kernel, typename Job>
void run(Kernel* kernel, unsigned blocks, unsigned threads, std::size_t bytes, const Job& job) {
  shared.assign(bytes / 16 + 1, uint4{1, 2, 3, 4});
  for (unsigned at = 0; at < blocks; ++at) {
    warps.clear();
    for (unsigned warp = 0; warp < threads / 32; ++warp) warps.push_back(std::make_unique<Warp>());
    block = std::make_unique<std::barrier<> >(threads);
    std::vector<std::thread> all;
    for (unsigned thread = 0; thread < threads; ++thread) {
      all.emplace_back([=] {
        threadIdx.x = thread;
        blockIdx.x = at;
        kernel(job);
      });
    }
    for (std::thread& thread : all) thread.join();
  }
}
}  // namespace emulated

inline void __syncthreads() { emulated::block->arrive_and_wait(); }
inline void __syncwarp() {
  emulated::exchange(0, [](const auto&) { return 0; });
}
inline std::uint32_t __shfl_sync(unsigned, std::uint32_t value, unsigned lane) {
  return emulated::exchange(value, [=](const auto& all) { return all[lane % 32]; });
}
inline std::uint32_t __shfl_up_sync(unsigned, std::uint32_t value, unsigned by) {
  const unsigned lane = threadIdx.x % 32;
  return emulated::exchange(value,
                            [=](const auto& all) { return all[lane < by ? lane : lane - by]; });
}
inline std::uint32_t __ballot_sync(unsigned, bool value) {
  return emulated::exchange(value, [](const auto& all) {
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane) bits |= all[lane] << lane;
    return bits;
  });
}
inline std::uint32_t __reduce_add_sync(unsigned, std::uint32_t value) {
  return emulated::exchange(value, [](const auto& all) {
    std::uint32_t sum = 0;
    for (const std::uint32_t one : all) sum += one;
    return sum;
  });
}
inline std::uint32_t __byte_perm(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  std::uint32_t bytes = 0;
  for (unsigned at = 0; at < 4; ++at) {
    bytes |= static_cast<std::uint32_t>(both >> (8 * (selector >> (4 * at) & 7)) & 255) << (8 * at);
  }
  return bytes;
}
inline std::uint32_t __dp2a_lo(std::uint32_t pair, std::uint32_t bytes, std::uint32_t sum) {
  return sum + (pair & 0xFFFF) * (bytes & 255) + (pair >> 16) * (bytes >> 8 & 255);
}
inline std::uint32_t __viaddmin_u16x2(std::uint32_t a, std::uint32_t b, std::uint32_t most) {
  std::uint32_t pair = 0;
  for (unsigned half = 0; half < 32; half += 16) {
    const std::uint32_t sum = ((a >> half) + (b >> half)) & 0xFFFF, limit = most >> half & 0xFFFF;
    pair |= (sum < limit ? sum : limit) << half;
  }
  return pair;
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline int __popc(std::uint32_t bits) { return std::popcount(bits); }
template <typename Word>
Word __ldcs(const Word* at) {
  return *at;
}
template <typename Word>
Word __ldg(const Word* at) {
  return *at;
}
template <typename Word>
void __stcs(Word* at, Word value) {
  *at = value;
}
#endif

namespace roof {
inline constexpr unsigned kAllLanes = 0xffffffffu;
}
