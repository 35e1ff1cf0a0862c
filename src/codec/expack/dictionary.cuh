// Exponents as places in a dictionary, by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/choices.h"
#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

// A thread block's counts of its chunk's exponents, and the dictionary made of them.
struct DictionaryState {
  std::uint32_t counts[256];  // of each exponent; later its position in the dictionary
  std::uint32_t sums[kDictionarySize + 1];
  std::uint32_t size;
  std::uint8_t exponents[kDictionarySize];
};

// One of a group's eight bytes.
__device__ inline std::uint32_t byte_of(uint2 bytes, int at) {
  return (at < 4 ? bytes.x : bytes.y) >> (8 * (at % 4)) & 0xFF;
}

// The most frequent exponents first, and how many values the first n have. For one warp.
__device__ inline void rank_exponents(DictionaryState& state, unsigned lane) {
  constexpr int kOfLane = 256 / 32;
  // The lower one of two exponents comes first if their counts are the same.
  std::uint32_t ranks[kOfLane];
#pragma unroll
  for (int at = 0; at < kOfLane; ++at) {
    const std::uint32_t exponent = 32 * at + lane;
    ranks[at] = state.counts[exponent] << 8 | (255 - exponent);
  }
  std::uint32_t sum = 0, size = 0;
  if (lane == 0) state.sums[0] = 0;
#pragma unroll 1
  for (int place = 0; place < kDictionarySize; ++place) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int at = 0; at < kOfLane; ++at) largest = max(largest, ranks[at]);
    largest = cuda::most_of_lanes(largest);
#pragma unroll
    for (int at = 0; at < kOfLane; ++at) {
      if (ranks[at] == largest) ranks[at] = 0;
    }
    sum += largest >> 8;
    size += largest >> 8 != 0 ? 1 : 0;
    if (lane == 0) {
      state.sums[place + 1] = sum;
      state.exponents[place] = static_cast<std::uint8_t>(255 - (largest & 0xFF));
    }
  }
  if (lane == 0) state.size = size;
}

// Counts the exponents of all rows and ranks them. For whole thread blocks; has barriers.
template <int kRows>
__device__ void know_exponents(const uint2 (&exponents)[kRows], const Rows& rows, unsigned lane,
                               DictionaryState& state) {
  for (unsigned at = threadIdx.x; at < 256; at += 32 * kStretches) state.counts[at] = 0;
  __syncthreads();
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
#pragma unroll
    for (int value = 0; value < kGroupValues; ++value) {
      atomicAdd(&state.counts[byte_of(exponents[at], value)], 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x < 32) rank_exponents(state, lane);
  __syncthreads();
}

// Writes a dictionary of `size` exponents, and says the place of each, or `missing`. For whole
// thread blocks; has a barrier.
__device__ inline void put_dictionary(std::uint32_t size, std::uint32_t missing, std::byte* out,
                                      DictionaryState& state) {
  for (unsigned exponent = threadIdx.x; exponent < 256; exponent += 32 * kStretches) {
    std::uint32_t found = missing;
    for (std::uint32_t place = 0; place < size; ++place) {
      if (state.exponents[place] == exponent) found = place;
    }
    state.counts[exponent] = found;
  }
  if (threadIdx.x < kDictionarySize) {
    out[threadIdx.x] = threadIdx.x < size ? std::byte{state.exponents[threadIdx.x]} : std::byte{0};
  }
  __syncthreads();
}

// ---- Places, a byte each of a group's eight ----

__device__ inline void put_places(uint2 places, unsigned width, std::byte* out) {
  for (unsigned bit = 0; bit < width; ++bit) {
    out[bit] = static_cast<std::byte>(join_bits(places.x >> bit) | join_bits(places.y >> bit) << 4);
  }
}

__device__ inline uint2 take_places(const std::byte* in, unsigned width) {
  uint2 places = {0, 0};
  for (unsigned bit = 0; bit < width; ++bit) {
    const auto bits = static_cast<std::uint32_t>(in[bit]);
    // Each bit as the highest of a byte.
    places.x |= split_signs(bits) >> 7 << bit;
    places.y |= split_signs(bits >> 4) >> 7 << bit;
  }
  return places;
}

}  // namespace thinwire::codec::expack
