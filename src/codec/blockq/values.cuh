// The values of one payload word, 8 or 16 of them, in one thread: from and to the array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/blockq/core.h"
#include "codec/cuda/piece.cuh"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::blockq {

using cuda::kAllLanes;

template <Element kElement>
inline constexpr int kWordValues = kElement == Element::kInt4 ? 16 : 8;

// ---- Values as they lie in the array ----

template <Dtype kDtype, Element kElement>
struct RawValues {
  static constexpr int kUnits = kWordValues<kElement> * static_cast<int>(dtype_size(kDtype)) / 16;
  uint4 unit[kUnits];
};

// The offset at which a lane writes its unit of 16 bytes, of `kUnits`. A lane's units do not follow
// one another: those of two neighbouring lanes alternate, so that what a warp stores at once is
// whole sectors of memory. (Loads do not need this: the cache keeps the rest of a sector for the
// next one.)
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
    raw.unit[unit] = __ldg(reinterpret_cast<const uint4*>(at) + unit);
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

// Loads `count` values from any alignment; the others become 0.
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
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(values[0]), "=f"(values[1])
        : "r"(word));
#else
    values[0] = float_of_f16(static_cast<std::uint16_t>(word));
    values[1] = float_of_f16(static_cast<std::uint16_t>(word >> 16));
#endif
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
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(magnitude), "f"(fabsf(value)));
  return result;
#else
  // As integers, the bits of magnitudes have the order of the magnitudes, with NaN above all.
  return __uint_as_float(max(__float_as_uint(magnitude), __float_as_uint(fabsf(value))));
#endif
}

// The bits of the largest magnitude; those of infinity or more if a value is not finite.
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

// ---- Decoded values ----

template <Dtype kDtype>
__device__ std::uint32_t pair_of(float low, float high) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  if constexpr (kDtype == Dtype::kBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
#else
  if constexpr (kDtype == Dtype::kBf16) return bf16_of(low) | std::uint32_t{bf16_of(high)} << 16;
  return f16_of(low) | std::uint32_t{f16_of(high)} << 16;
#endif
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
      const auto word =
          static_cast<Word>(part[each * sizeof(Word) / 4] >> (each * sizeof(Word) % 4 * 8));
      if (value < count) sink.put(at + value * sizeof(Word), word);
    }
  }
}

}  // namespace thinwire::codec::blockq
