// Parts of all kernels: chunks, bits of missing values, and scans over a thread block.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/piece.cuh"
#include "codec/cuda/warp.cuh"
#include "device/launch.h"
#include "message/fills/work.h"

namespace thinwire::message::fills {

using codec::cuda::kAllLanes;
using codec::cuda::load_value;
using codec::cuda::load_word;
using codec::cuda::Running;
using codec::cuda::store_value;
using codec::cuda::store_word;
using codec::cuda::sum_before_thread;

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;

// Shared memory of the scans below.
struct Scratch {
  unsigned most[kWarps];
  unsigned counts[kWarps];
  unsigned long long sums[kWarps];
};

// The most over the threads before this one, 0 for the first, and over all. For whole thread
// blocks; has a barrier, and `scratch` is left alone until another one.
__device__ inline Running<unsigned> most_before_thread(unsigned value, unsigned* scratch) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned up_to = value;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned left = __shfl_up_sync(kAllLanes, up_to, offset);
    if (lane >= offset && left > up_to) up_to = left;
  }
  if (lane == 31) scratch[warp] = up_to;
  const unsigned left = __shfl_up_sync(kAllLanes, up_to, 1);
  __syncthreads();
  Running<unsigned> most{lane == 0 ? 0 : left, 0};
  for (unsigned other = 0; other < kWarps; ++other) {
    const unsigned its = scratch[other];
    if (other < warp && its > most.before) most.before = its;
    if (its > most.total) most.total = its;
  }
  return most;
}

__device__ inline std::uint32_t words_of(std::uint32_t values) { return (values + 31) / 32; }
__device__ inline std::uint32_t mask_bytes_of(std::uint32_t values) { return (values + 7) / 8; }

// The bits of a word of 32 values that belong to the first `values` of a chunk.
__device__ inline std::uint32_t valid_bits(std::uint32_t word, std::uint32_t values) {
  const std::uint32_t left = values - 32 * word;
  return left >= 32 ? ~0u : (1u << left) - 1;
}

__device__ inline std::uint32_t highest_bit(std::uint32_t bits) { return 31 - __clz(bits); }
__device__ inline std::uint32_t lowest_bit(std::uint32_t bits) { return __ffs(bits) - 1; }

// The bits in which a value differs from the one before it; the first value from one that is there.
__device__ inline std::uint32_t turns_of(const std::uint32_t* bits, std::uint32_t word,
                                         std::uint32_t values) {
  const std::uint32_t before = word == 0 ? 0 : bits[word - 1] >> 31;
  return (bits[word] ^ (bits[word] << 1 | before)) & valid_bits(word, values);
}

// Bytes of the length of a run.
__device__ inline std::uint32_t length_bytes(std::uint32_t length) {
  std::uint32_t bytes = 1;
  for (; length > 0x7F; length >>= 7) ++bytes;
  return bytes;
}

__device__ inline bool is_missing(const std::uint32_t* bits, std::uint32_t at) {
  return (bits[at / 32] >> at % 32 & 1) != 0;
}

// Checksum of the payload of `bytes` bytes, at any alignment; for whole thread blocks, after a
// barrier if they have written it. Has one, and `sums` is left alone until another.
__device__ inline std::uint32_t checksum_of(const std::byte* payload, std::uint32_t bytes,
                                            unsigned long long* sums) {
  std::uint64_t sum = 0;
  for (std::uint32_t at = threadIdx.x; 8 * std::uint64_t{at} < bytes; at += kThreads) {
    const std::uint32_t left = bytes - 8 * at;
    std::uint64_t word = 0;
    if (left >= 8) {
      word = load_word(payload + 8 * at);
    } else {
      for (std::uint32_t byte = 0; byte < left; ++byte) {
        word |= static_cast<std::uint64_t>(payload[8 * at + byte]) << 8 * byte;
      }
    }
    sum += checksum_product(word, checksum_key(at % kChecksumLanes)) *
           checksum_weight(at / kChecksumLanes);
  }
  const auto all = sum_before_thread<kThreads, unsigned long long>(sum, sums);
  return static_cast<std::uint32_t>(checksum_finish(bytes, all.total));
}

// Copies `bytes` bytes at any alignment; for whole thread blocks.
__device__ inline void copy_bytes(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const auto alignment =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  std::uint32_t done = 0;
  if (alignment % 8 == 0) {
    done = bytes / 8 * 8;
    for (std::uint32_t at = 8 * threadIdx.x; at < done; at += 8 * kThreads) {
      *reinterpret_cast<std::uint64_t*>(to + at) =
          *reinterpret_cast<const std::uint64_t*>(from + at);
    }
  }
  for (std::uint32_t at = done + threadIdx.x; at < bytes; at += kThreads) to[at] = from[at];
}

// Turns `count` sizes into the sums of those before each, by one thread block; the sum of all.
template <typename Size>
__device__ std::uint64_t place_all(std::uint64_t count, std::uint64_t* places, Scratch& scratch,
                                   Size&& size) {
  std::uint64_t before = 0;
  for (std::uint64_t base = 0; base < count; base += kThreads) {
    const std::uint64_t at = base + threadIdx.x;
    const unsigned long long own = at < count ? size(at) : 0;
    const auto sums = sum_before_thread<kThreads>(own, scratch.sums);
    if (at < count) places[at] = before + sums.before;
    before += sums.total;
    __syncthreads();
  }
  return before;
}

// Whether the frames that are decoded are still sound, and the codec's own was.
__device__ inline StatusCode status_of(const State& state) {
  return static_cast<StatusCode>(*static_cast<const volatile unsigned*>(&state.status));
}
__device__ inline StatusCode codec_status(const State& state) {
  return static_cast<StatusCode>((state.coded & ~device::kKnown) >> device::kStatusShift);
}

// A thread block a chunk.
template <typename... Parameters>
Status launch_chunks(void (*kernel)(Parameters...), const Common& work, device::StreamHandle stream,
                     std::type_identity_t<Parameters>... arguments) {
  return device::launch("cannot code missing values", kernel, {work.layout.chunks, kThreads},
                        stream, arguments...);
}

// One thread block.
template <typename... Parameters>
Status launch_one(void (*kernel)(Parameters...), device::StreamHandle stream,
                  std::type_identity_t<Parameters>... arguments) {
  return device::launch("cannot code missing values", kernel, {1, kThreads}, stream, arguments...);
}

}  // namespace thinwire::message::fills
