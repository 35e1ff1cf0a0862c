// The values of one payload word: 8 elements of a byte, or 16 of half a byte, in one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/blockq/core.h"
#include "codec/cuda/piece.cuh"

namespace thinwire::codec::blockq {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

template <Element kElement>
inline constexpr int kWordValues = kElement == Element::kInt4 ? 16 : 8;

// ---- Values as they lie in the array ----

template <Dtype kDtype, Element kElement>
struct RawValues {
  static constexpr int kUnits = kWordValues<kElement> * static_cast<int>(dtype_size(kDtype)) / 16;
  uint4 unit[kUnits];
};

// Where a lane writes its `kUnits` units of 16 bytes: not one behind the other, but those of two
// neighbouring lanes in turns, so that what a warp stores at once is whole sectors of memory. (Loads
// need none of this: the cache has the rest of a sector by the next one.)
template <int kUnits>
__device__ int unit_offset(int unit) {
  if constexpr (kUnits == 1) return 0;
  const int odd = static_cast<int>(threadIdx.x % 2);
  const int in_pair = unit % 2 == 0 ? unit : kUnits + unit - 1;
  return 16 * (in_pair + odd - kUnits * odd);
}

// Units that follow on each other to those that the lane is to write.
template <int kUnits>
__device__ void exchange_units(uint4 (&units)[kUnits]) {
  const bool is_odd = threadIdx.x % 2 == 1;
  const auto exchange = [&](unsigned& first, unsigned& second) {
    const unsigned got = __shfl_xor_sync(kAllLanes, is_odd ? first : second, 1);
    first = is_odd ? got : first;
    second = is_odd ? second : got;
  };
#pragma unroll
  for (int at = 0; at + 1 < kUnits; at += 2) {
    exchange(units[at].x, units[at + 1].x);
    exchange(units[at].y, units[at + 1].y);
    exchange(units[at].z, units[at + 1].z);
    exchange(units[at].w, units[at + 1].w);
  }
}

template <Dtype kDtype, Element kElement>
__device__ RawValues<kDtype, kElement> load_units(const std::byte* at) {
  RawValues<kDtype, kElement> raw;
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
#ifdef XCH
    raw.unit[unit] = __ldg(reinterpret_cast<const uint4*>(at + unit_offset<raw.kUnits>(unit)));
#else
    raw.unit[unit] = __ldg(reinterpret_cast<const uint4*>(at) + unit);
#endif
  }
  return raw;
}

template <Dtype kDtype, Element kElement, typename Sink>
__device__ void put_units(const Sink& sink, std::byte* at, RawValues<kDtype, kElement> raw) {
  exchange_units(raw.unit);
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    sink.put_aligned(at + unit_offset<raw.kUnits>(unit), raw.unit[unit]);
  }
}

// At any alignment, with zeros behind the `count`th.
template <Dtype kDtype, Element kElement>
__device__ RawValues<kDtype, kElement> load_some(const std::byte* at, int count) {
  using Word = WordOf<kDtype>;
  constexpr int kUnitWords = 16 / sizeof(Word);
  RawValues<kDtype, kElement> raw;
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    std::uint32_t part[4]{};
#pragma unroll
    for (int each = 0; each < kUnitWords; ++each) {
      const int value = unit * kUnitWords + each;
      const std::uint32_t word =
          value < count ? cuda::load_value<Word>(at + value * sizeof(Word)) : 0;
      part[each * sizeof(Word) / 4] |= word << (each * sizeof(Word) % 4 * 8);
    }
    raw.unit[unit] = {part[0], part[1], part[2], part[3]};
  }
  return raw;
}

template <Dtype kDtype>
__device__ void to_floats(std::uint32_t word, float* values) {
  if constexpr (kDtype == Dtype::kBf16) {
    values[0] = __uint_as_float(word << 16);
    values[1] = __uint_as_float(word & 0xFFFF0000u);
  } else {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(values[0]), "=f"(values[1])
        : "r"(word));
  }
}

template <Dtype kDtype, Element kElement>
__device__ void to_floats(const RawValues<kDtype, kElement>& raw,
                          float (&values)[kWordValues<kElement>]) {
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    const uint4 four = raw.unit[unit];
    if constexpr (kDtype == Dtype::kF32) {
      values[4 * unit] = __uint_as_float(four.x);
      values[4 * unit + 1] = __uint_as_float(four.y);
      values[4 * unit + 2] = __uint_as_float(four.z);
      values[4 * unit + 3] = __uint_as_float(four.w);
    } else {
      to_floats<kDtype>(four.x, values + 8 * unit);
      to_floats<kDtype>(four.y, values + 8 * unit + 2);
      to_floats<kDtype>(four.z, values + 8 * unit + 4);
      to_floats<kDtype>(four.w, values + 8 * unit + 6);
    }
  }
}

// The larger magnitude, which has no sign; NaN if there is one.
__device__ inline float larger_magnitude(float magnitude, float value) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(magnitude), "f"(fabsf(value)));
  return result;
}

// The bits of the largest magnitude; those of infinity or more where a value is not finite.
template <int kCount>
__device__ std::uint32_t largest_of(const float (&values)[kCount]) {
  float largest = larger_magnitude(fabsf(values[0]), values[1]);
#pragma unroll
  for (int at = 2; at < kCount; ++at) largest = larger_magnitude(largest, values[at]);
  return __float_as_uint(largest);
}

// The same of 16-bit values, whose bits without the sign stand in the order of their magnitudes.
template <Dtype kDtype, Element kElement>
__device__ std::uint32_t largest_of(const RawValues<kDtype, kElement>& raw) {
  constexpr std::uint32_t kMagnitudes = 0x7FFF7FFFu;
  std::uint32_t pair = 0;
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    const uint4 four = raw.unit[unit];
    const std::uint32_t low = __vmaxu2(four.x & kMagnitudes, four.y & kMagnitudes);
    const std::uint32_t high = __vmaxu2(four.z & kMagnitudes, four.w & kMagnitudes);
    pair = __vmaxu2(pair, __vmaxu2(low, high));
  }
  const std::uint32_t largest = max(pair & 0xFFFF, pair >> 16);
  float values[2];
  to_floats<kDtype>(largest, values);
  return __float_as_uint(values[0]);
}

// ---- Elements ----

__device__ inline std::uint32_t nearest_e4m3_pair(float low, float high) {
#if __CUDA_ARCH__ >= 890
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
      half[part] = __byte_perm(nearest_e4m3_pair(own[0], own[1]),
                               nearest_e4m3_pair(own[2], own[3]), 0x5410);
    } else {
      // From -7 to 7 they become 1 to 15: what is joined then has no borrows.
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
      numbers[at] =
          __uint_as_float((shifted >> at % 8 * 4 & 15) | 0x4B000000u) - 8388616.0f;
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

// ---- Decoded values ----

template <Dtype kDtype>
__device__ std::uint32_t pair_of(float low, float high) {
  std::uint32_t pair;
  if constexpr (kDtype == Dtype::kBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

template <Dtype kDtype, Element kElement>
__device__ RawValues<kDtype, kElement> from_floats(const float (&values)[kWordValues<kElement>]) {
  RawValues<kDtype, kElement> raw;
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    if constexpr (kDtype == Dtype::kF32) {
      const float* const own = values + 4 * unit;
      raw.unit[unit] = {__float_as_uint(own[0]), __float_as_uint(own[1]), __float_as_uint(own[2]),
                        __float_as_uint(own[3])};
    } else {
      const float* const own = values + 8 * unit;
      raw.unit[unit] = {pair_of<kDtype>(own[0], own[1]), pair_of<kDtype>(own[2], own[3]),
                        pair_of<kDtype>(own[4], own[5]), pair_of<kDtype>(own[6], own[7])};
    }
  }
  return raw;
}

// The first `count` of them, at any alignment.
template <Dtype kDtype, Element kElement, typename Sink>
__device__ void put_some(const Sink& sink, std::byte* at, const RawValues<kDtype, kElement>& raw,
                         int count) {
  using Word = WordOf<kDtype>;
  constexpr int kUnitWords = 16 / sizeof(Word);
#pragma unroll
  for (int unit = 0; unit < raw.kUnits; ++unit) {
    const std::uint32_t part[4] = {raw.unit[unit].x, raw.unit[unit].y, raw.unit[unit].z,
                                   raw.unit[unit].w};
#pragma unroll
    for (int each = 0; each < kUnitWords; ++each) {
      const int value = unit * kUnitWords + each;
      const auto word = static_cast<Word>(part[each * sizeof(Word) / 4] >>
                                          (each * sizeof(Word) % 4 * 8));
      if (value < count) sink.put(at + value * sizeof(Word), word);
    }
  }
}

}  // namespace thinwire::codec::blockq
