// A chunk's values in shared memory: a row for each thread, and 16 free bytes after it, so that
// threads that go through their rows side by side meet different banks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/cuda/piece.cuh"
#include "codec/mpc/lane.cuh"

namespace thinwire::codec::mpc {

template <typename Word>
struct Rows {
  static constexpr std::uint32_t kRowBytes = kLaneValues * sizeof(Word);
  static constexpr std::uint32_t kPitch = kRowBytes + 16;

  std::byte* base;

  // The address of the chunk's byte `at`.
  __device__ std::byte* place(std::uint32_t at) const { return base + at + at / kRowBytes * 16; }
  __device__ Word& value(std::uint32_t index) const {
    return *reinterpret_cast<Word*>(place(index * sizeof(Word)));
  }

  // For whole thread blocks, without a barrier.
  __device__ void read(const std::byte* in, std::uint32_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(in);
    if (address % 16 == 0) {
      copy<16>(in, bytes);
    } else if (address % sizeof(Word) == 0) {
      copy<sizeof(Word)>(in, bytes);
    } else {
      for (std::uint32_t at = threadIdx.x; at < bytes; at += blockDim.x) *place(at) = in[at];
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }

  // The thread's own row.
  __device__ void load(LaneWords<Word>& words) const {
    const auto* const row = reinterpret_cast<const uint4*>(base + threadIdx.x * kPitch);
    uint4 parts[kRowBytes / 16];
#pragma unroll
    for (int at = 0; at < static_cast<int>(kRowBytes / 16); ++at) parts[at] = row[at];
    memcpy(words, parts, sizeof parts);
  }

  __device__ void store(const LaneWords<Word>& words) const {
    auto* const row = reinterpret_cast<uint4*>(base + threadIdx.x * kPitch);
    uint4 parts[kRowBytes / 16];
    memcpy(parts, words, sizeof parts);
#pragma unroll
    for (int at = 0; at < static_cast<int>(kRowBytes / 16); ++at) row[at] = parts[at];
  }

  // Writes the values from `first` to `end`, all of one warp, to the same positions of the array at
  // `out`.
  template <typename Sink>
  __device__ void write(const Sink& sink, std::byte* out, std::uint32_t first,
                        std::uint32_t end) const {
    constexpr std::uint32_t kEach = 16 / sizeof(Word);
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t at = first;
    if (reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      const std::uint32_t whole = first + (end - first) / kEach * kEach;
#pragma unroll 4
      for (std::uint32_t own = first + lane * kEach; own < whole; own += 32 * kEach) {
        sink.put_aligned(out + own * sizeof(Word),
                         *reinterpret_cast<const uint4*>(place(own * sizeof(Word))));
      }
      at = whole;
    }
#pragma unroll 4
    for (at += lane; at < end; at += 32) sink.put(out + at * sizeof(Word), value(at));
  }

 private:
  template <std::uint32_t kUnit>
  __device__ void copy(const std::byte* in, std::uint32_t bytes) const {
    const std::uint32_t whole = bytes / kUnit * kUnit;
    for (std::uint32_t at = kUnit * threadIdx.x; at < whole; at += kUnit * blockDim.x) {
      __pipeline_memcpy_async(place(at), in + at, kUnit);
    }
    for (std::uint32_t at = whole + threadIdx.x; at < bytes; at += blockDim.x) *place(at) = in[at];
  }
};

}  // namespace thinwire::codec::mpc
