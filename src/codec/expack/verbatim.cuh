// The planes of signs and mantissas, of a lane's group; spec/codec-expack.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/expack/group.cuh"

namespace thinwire::codec::expack {

// The two bytes that surround the exponent of a bf16, or of the upper half of an fp32, as one.
__device__ inline std::uint32_t join_around(std::uint32_t lows, std::uint32_t highs) {
  return (lows & 0x7F7F7F7Fu) | (highs & 0x80808080u);
}

__device__ inline std::uint32_t lows_with(std::uint32_t kept, std::uint32_t exponents) {
  return (kept & 0x7F7F7F7Fu) | (exponents << 7 & 0x80808080u);
}

__device__ inline std::uint32_t highs_with(std::uint32_t kept, std::uint32_t exponents) {
  return (kept & 0x80808080u) | (exponents >> 1 & 0x7F7F7F7Fu);
}

// The lowest two bits of eight bytes, as the lowest sixteen.
__device__ inline std::uint32_t join_pairs(std::uint32_t first, std::uint32_t second) {
  constexpr std::uint32_t kTogether = 0x01041040u;  // in the highest byte
  return __byte_perm((first & 0x03030303u) * kTogether, (second & 0x03030303u) * kTogether, 0x4473);
}

__device__ inline std::uint32_t split_pairs(std::uint32_t pairs) {
  pairs = (pairs | pairs << 12) & 0x000F000Fu;
  return (pairs | pairs << 6) & 3 * kByteOnes;
}

// Sign and mantissa of four e4m3 as four bits each, and back.
__device__ inline std::uint32_t join_fours(std::uint32_t bytes) {
  std::uint32_t fours = (bytes & 7 * kByteOnes) | (bytes >> 4 & 8 * kByteOnes);
  fours = (fours | fours >> 4) & 0x00FF00FFu;
  return (fours | fours >> 8) & 0xFFFFu;
}

__device__ inline std::uint32_t split_fours(std::uint32_t fours) {
  fours = (fours | fours << 8) & 0x00FF00FFu;
  fours = (fours | fours << 4) & 15 * kByteOnes;
  return (fours & 7 * kByteOnes) | (fours << 4 & 0x80808080u);
}

// The bits of four values, as the highest of a byte each.
__device__ inline std::uint32_t split_signs(std::uint32_t bits) {
  return ((bits & 0xF) * 0x10204080u) & 0x80808080u;
}

// The planes of two bits and of one, of the bytes that have a group's signs.
__device__ inline void put_pairs_and_signs(uint2 highs, const Parts& parts, int place,
                                           std::byte* out) {
  *reinterpret_cast<std::uint16_t*>(out + parts.plane[1] + 2 * place) =
      static_cast<std::uint16_t>(join_pairs(highs.x, highs.y));
  out[parts.plane[2] + place] =
      static_cast<std::byte>(join_bits<7>(highs.x) | join_bits<7>(highs.y) << 4);
}

// Writes a group's part of the verbatim planes. If these may end within a row, only values before
// `end`, a multiple of 8, are written.
template <Dtype kDtype, bool kMayEnd>
__device__ void put_verbatim(const Group<kDtype>& group, const Parts& parts, int row, unsigned lane,
                             int end, std::byte* out) {
  const int place = row * kRowGroups + static_cast<int>(lane);  // of the group
  if constexpr (kDtype == Dtype::kF32) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const uint4& in = group.part[part];
      const int first = row * kRowValues + Group<kDtype>::first(part, lane);
      if (kMayEnd && first >= end) break;
      *reinterpret_cast<uint2*>(out + parts.plane[0] + 2 * first) = {
          __byte_perm(in.x, in.y, 0x5410), __byte_perm(in.z, in.w, 0x5410)};
      const std::uint32_t first_highs = __byte_perm(in.x, in.y, 0x7362);
      const std::uint32_t last_highs = __byte_perm(in.z, in.w, 0x7362);
      *reinterpret_cast<std::uint32_t*>(out + parts.plane[1] + first) =
          join_around(__byte_perm(first_highs, last_highs, 0x5410),
                      __byte_perm(first_highs, last_highs, 0x7632));
    }
  } else if constexpr (Format<kDtype>::kValueBytes == 1) {
    if (kMayEnd && place * kGroupValues >= end) return;
    const uint2& in = group.part[0];
    if constexpr (kDtype == Dtype::kE5m2) {
      put_pairs_and_signs(in, parts, place, out);
    } else {
      *reinterpret_cast<std::uint32_t*>(out + parts.plane[0] + 4 * place) =
          join_fours(in.x) | join_fours(in.y) << 16;
    }
  } else {
    if (kMayEnd && place * kGroupValues >= end) return;
    const uint4& in = group.part[0];
    const uint2 lows = {__byte_perm(in.x, in.y, 0x6420), __byte_perm(in.z, in.w, 0x6420)};
    const uint2 highs = {__byte_perm(in.x, in.y, 0x7531), __byte_perm(in.z, in.w, 0x7531)};
    auto* const plane = reinterpret_cast<uint2*>(out + parts.plane[0]) + place;
    if constexpr (kDtype == Dtype::kBf16) {
      *plane = {join_around(lows.x, highs.x), join_around(lows.y, highs.y)};
    } else {
      *plane = lows;
      put_pairs_and_signs(highs, parts, place, out);
    }
  }
}

// The upper bytes of a group of fp16, or the values of one of e5m2, whose exponents, a byte each,
// are `exponents`.
__device__ inline uint2 highs_of_f16(const std::byte* in, const Parts& parts, int row,
                                     unsigned lane, uint2 exponents) {
  const int place = row * kRowGroups + static_cast<int>(lane);
  const std::uint32_t pairs =
      *reinterpret_cast<const std::uint16_t*>(in + parts.plane[1] + 2 * place);
  const auto signs = static_cast<std::uint32_t>(in[parts.plane[2] + place]);
  return {(exponents.x << 2 & 0x7C7C7C7Cu) | split_pairs(pairs & 0xFF) | split_signs(signs),
          (exponents.y << 2 & 0x7C7C7C7Cu) | split_pairs(pairs >> 8) | split_signs(signs >> 4)};
}

// The values of a group of 8-bit ones whose exponents, a byte each, are `exponents`.
template <Dtype kDtype>
__device__ uint2 bytes_with(const std::byte* in, const Parts& parts, int row, unsigned lane,
                            uint2 exponents) {
  if constexpr (kDtype == Dtype::kE5m2) return highs_of_f16(in, parts, row, lane, exponents);
  const int place = row * kRowGroups + static_cast<int>(lane);
  const auto fours = *reinterpret_cast<const std::uint32_t*>(in + parts.plane[0] + 4 * place);
  return {(exponents.x << 3 & 0x78787878u) | split_fours(fours & 0xFFFF),
          (exponents.y << 3 & 0x78787878u) | split_fours(fours >> 16)};
}

// The group whose exponents, a byte each, are `exponents`.
template <Dtype kDtype>
__device__ Group<kDtype> join_group(const std::byte* in, const Parts& parts, int row, unsigned lane,
                                    uint2 exponents) {
  const int place = row * kRowGroups + static_cast<int>(lane);
  Group<kDtype> group;
  if constexpr (kDtype == Dtype::kF32) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int first = row * kRowValues + Group<kDtype>::first(part, lane);
      const uint2 halves = *reinterpret_cast<const uint2*>(in + parts.plane[0] + 2 * first);
      const auto kept = *reinterpret_cast<const std::uint32_t*>(in + parts.plane[1] + first);
      const std::uint32_t exponent = part == 0 ? exponents.x : exponents.y;
      const std::uint32_t lows = lows_with(kept, exponent);
      const std::uint32_t highs = highs_with(kept, exponent);
      const std::uint32_t first_two = __byte_perm(lows, highs, 0x5140);
      const std::uint32_t last_two = __byte_perm(lows, highs, 0x7362);
      group.part[part] = {
          __byte_perm(halves.x, first_two, 0x5410), __byte_perm(halves.x, first_two, 0x7632),
          __byte_perm(halves.y, last_two, 0x5410), __byte_perm(halves.y, last_two, 0x7632)};
    }
  } else if constexpr (Format<kDtype>::kValueBytes == 1) {
    group.part[0] = bytes_with<kDtype>(in, parts, row, lane, exponents);
  } else {
    const uint2 kept = reinterpret_cast<const uint2*>(in + parts.plane[0])[place];
    uint2 lows = kept;
    uint2 highs;
    if constexpr (kDtype == Dtype::kBf16) {
      lows = {lows_with(kept.x, exponents.x), lows_with(kept.y, exponents.y)};
      highs = {highs_with(kept.x, exponents.x), highs_with(kept.y, exponents.y)};
    } else {
      highs = highs_of_f16(in, parts, row, lane, exponents);
    }
    group.part[0] = {__byte_perm(lows.x, highs.x, 0x5140), __byte_perm(lows.x, highs.x, 0x7362),
                     __byte_perm(lows.y, highs.y, 0x5140), __byte_perm(lows.y, highs.y, 0x7362)};
  }
  return group;
}

}  // namespace thinwire::codec::expack
