// One payload word, 8 elements of a byte or 16 of half a byte, out of values and back, by one
// thread.
#pragma once

#include "codec/blockq/values.cuh"

namespace thinwire::codec::blockq {

// ---- Elements ----

__device__ inline std::uint32_t nearest_e4m3_pair(float low, float high) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 890
  std::uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return e4m3_of(low) | e4m3_of(high) << 8;
#endif
}

// Four bytes out of the lowest ones of each.
__device__ inline std::uint32_t low_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                          std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Eight half bytes out of numbers that carry them, 0 to 15, on top of the same even number.
__device__ inline std::uint32_t join_halves(const std::uint32_t (&bits)[8], std::uint32_t base) {
  std::uint32_t word = bits[7];
#pragma unroll
  for (int at = 6; at >= 0; --at) word = word * 16 + bits[at];
  return word - base * 0x11111111u;
}

// The elements of y, rounded to nearest.
template <Element kElement>
__device__ std::uint64_t nearest_word(const float (&y)[kWordValues<kElement>]) {
  std::uint32_t half[2];
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    if constexpr (kElement == Element::kInt8) {
      const float* const own = y + 4 * part;
      half[part] = low_bytes(nearest<kElement>(own[0]), nearest<kElement>(own[1]),
                             nearest<kElement>(own[2]), nearest<kElement>(own[3]));
    } else if constexpr (kElement == Element::kE4m3) {
      const float* const own = y + 4 * part;
      half[part] =
          __byte_perm(nearest_e4m3_pair(own[0], own[1]), nearest_e4m3_pair(own[2], own[3]), 0x5410);
    } else {
      // Values from -7 to 7 become 1 to 15, so that joining them has no borrows.
      std::uint32_t bits[8];
#pragma unroll
      for (int at = 0; at < 8; ++at) bits[at] = nearest<kElement>(y[8 * part + at]) + 8;
      half[part] = join_halves(bits, 0x4B400000u) ^ 0x88888888u;
    }
  }
  return half[0] | static_cast<std::uint64_t>(half[1]) << 32;
}

// The same, rounded by what `key` draws for the values from `first` on.
template <Element kElement>
__device__ std::uint64_t drawn_word(const float (&y)[kWordValues<kElement>], std::uint32_t key,
                                    std::uint32_t first) {
  constexpr int kBits = 64 / kWordValues<kElement>;
  std::uint64_t word = 0;
#pragma unroll
  for (int at = 0; at < kWordValues<kElement>; at += 2) {
    const std::uint32_t drawn = draw(key, (first + at) / 2);
    const std::uint64_t low = stochastic<kElement>(y[at], drawn & 0xFFFF);
    const std::uint64_t high = stochastic<kElement>(y[at + 1], drawn >> 16);
    constexpr std::uint64_t kMask = (1u << kBits) - 1;
    word |= ((low & kMask) | (high & kMask) << kBits) << at * kBits;
  }
  return word;
}

template <Element kElement>
__device__ void to_numbers(std::uint64_t word, float (&numbers)[kWordValues<kElement>]) {
  const std::uint32_t half[2] = {static_cast<std::uint32_t>(word),
                                 static_cast<std::uint32_t>(word >> 32)};
#pragma unroll
  for (int at = 0; at < kWordValues<kElement>; ++at) {
    if constexpr (kElement == Element::kInt8) {
      // 2^23 and the number, its sign bit flipped, is a float.
      const std::uint32_t shifted = half[at / 4] ^ 0x80808080u;
      numbers[at] =
          __uint_as_float(__byte_perm(shifted, 0x4B000000u, 0x7440 + at % 4)) - 8388736.0f;
    } else if constexpr (kElement == Element::kInt4) {
      const std::uint32_t shifted = half[at / 8] ^ 0x88888888u;
      numbers[at] = __uint_as_float((shifted >> at % 8 * 4 & 15) | 0x4B000000u) - 8388616.0f;
    } else {
      numbers[at] = float_of_e4m3(half[at / 4] >> at % 4 * 8 & 0xFF);
    }
  }
}

// ---- Rotation ----

// Butterflies over the values of a block, which `lanes` neighbouring lanes have.
template <int kCount>
__device__ void rotate(float (&values)[kCount], unsigned lanes) {
#pragma unroll
  for (int width = 1; width < kCount; width *= 2) {
#pragma unroll
    for (int pair = 0; pair < kCount / 2; ++pair) {
      const int at = pair / width * 2 * width + pair % width;
      const float low = values[at], high = values[at + width];
      values[at] = low + high;
      values[at + width] = low - high;
    }
  }
#pragma unroll 1
  for (unsigned distance = 1; distance < lanes; distance *= 2) {
    const bool is_high = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int at = 0; at < kCount; ++at) {
      const float other = __shfl_xor_sync(kAllLanes, values[at], distance);
      values[at] = is_high ? other - values[at] : values[at] + other;
    }
  }
}

}  // namespace thinwire::codec::blockq
