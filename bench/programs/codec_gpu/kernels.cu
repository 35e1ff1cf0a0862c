#include <algorithm>

#include "timing.h"

namespace thinwire::bench {
namespace {

constexpr int kThreads = 256;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void hold_kernel(std::uint64_t duration) {
  const std::uint64_t start = nanoseconds();
  while (nanoseconds() - start < duration) {
  }
}

__global__ void work_kernel(float* sink, int rounds) {
  float value = static_cast<float>(threadIdx.x);
  for (int round = 0; round < rounds; ++round) value = value * 1.000001f + 0.5f;
  // Never true, but the compiler cannot know.
  if (value == -1.0f) *sink = value;
}

__global__ void compare_kernel(const std::byte* left, const std::byte* right, std::uint64_t bytes,
                               unsigned long long* differences) {
  const std::uint64_t words = bytes / 8;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto* left_words = reinterpret_cast<const std::uint64_t*>(left);
  const auto* right_words = reinterpret_cast<const std::uint64_t*>(right);
  unsigned long long found = 0;
  for (std::uint64_t at = first; at < words; at += step) {
    std::uint64_t both = left_words[at] ^ right_words[at];
    for (; both != 0; both >>= 8) found += (both & 0xFF) != 0;
  }
  for (std::uint64_t at = 8 * words + first; at < bytes; at += step) found += left[at] != right[at];
  if (found != 0) atomicAdd(differences, found);
}

__global__ void halve_kernel(const uint4* source, uint4* target, std::uint64_t written) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; at < written; at += step) {
    // Two reads, each of neighbouring threads side by side, for one write.
    const uint4 low = source[at];
    const uint4 high = source[at + written];
    target[at] = make_uint4(low.x ^ high.x, low.y ^ high.y, low.z ^ high.z, low.w ^ high.w);
  }
}

int blocks_for(std::uint64_t items) {
  return static_cast<int>(
      std::clamp<std::uint64_t>((items + kThreads - 1) / kThreads, 1, 132 * 16));
}

}  // namespace

void hold(const Stream& stream, std::uint64_t microseconds) {
  hold_kernel<<<1, 1, 0, stream.get()>>>(1000 * microseconds);
  check(cudaGetLastError());
}

void warm_clocks(const Stream& stream, double seconds) {
  constexpr double kPieceSeconds = 0.01;
  DeviceBytes sink(sizeof(float));
  Event start, now;
  start.record(stream);
  for (double done = 0; done < seconds;) {
    for (double piece = 0; piece < kPieceSeconds; piece += 1e-3) {
      work_kernel<<<132 * 8, kThreads, 0, stream.get()>>>(reinterpret_cast<float*>(sink.data()),
                                                          100000);
    }
    check(cudaGetLastError());
    now.record(stream);
    stream.finish();
    done = 1e-6 * now.microseconds_since(start);
  }
}

void count_differences(const Stream& stream, const std::byte* left, const std::byte* right,
                       std::uint64_t bytes, unsigned long long* differences) {
  compare_kernel<<<blocks_for(bytes / 8 + 1), kThreads, 0, stream.get()>>>(left, right, bytes,
                                                                           differences);
  check(cudaGetLastError());
}

void halve(const Stream& stream, const std::byte* source, std::byte* target, std::uint64_t bytes) {
  const std::uint64_t written = bytes / 32;
  halve_kernel<<<blocks_for(written), kThreads, 0, stream.get()>>>(
      reinterpret_cast<const uint4*>(source), reinterpret_cast<uint4*>(target), written);
  check(cudaGetLastError());
}

}  // namespace thinwire::bench
