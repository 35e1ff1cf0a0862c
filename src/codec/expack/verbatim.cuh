// Values of a lane's group, their exponents, and the planes of what is left; spec/codec-expack.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/cuda/piece.cuh"
#include "codec/expack/warp.cuh"

namespace thinwire::codec::expack {

// A lane's group of a row: 16 bytes of values of 16 bits; of fp32, the 16 bytes in each half of the
// row.
template <Dtype kDtype>
struct Group {
  static constexpr int kParts = Format<kDtype>::kValueBytes / 2;
  static constexpr int kPartValues = kGroupValues / kParts;

  uint4 part[kParts];

  // The value in the row that begins a part.
  __device__ static int first(int part, unsigned lane) {
    return part * (kRowValues / 2) + kPartValues * static_cast<int>(lane);
  }
};

// From an array aligned to 16 bytes.
template <Dtype kDtype>
__device__ Group<kDtype> load_group(const std::byte* row, unsigned lane) {
  Group<kDtype> group;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    const int first = Group<kDtype>::first(part, lane);
    group.part[part] = *reinterpret_cast<const uint4*>(row + first * Format<kDtype>::kValueBytes);
  }
  return group;
}

// At any alignment; values behind the last one are copies of it.
template <Dtype kDtype>
__device__ Group<kDtype> load_group_slowly(const cuda::Piece& piece, int row, unsigned lane) {
  using Word = WordOf<kDtype>;
  constexpr int kWordValues = 4 / sizeof(Word);
  Group<kDtype> group;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    std::uint32_t words[4] = {};
#pragma unroll
    for (int at = 0; at < Group<kDtype>::kPartValues; ++at) {
      const std::uint32_t wanted = row * kRowValues + Group<kDtype>::first(part, lane) + at;
      const std::uint32_t number = min(wanted, piece.values - 1);
      const auto value = cuda::load_value<Word>(piece.at + number * sizeof(Word));
      words[at / kWordValues] |= static_cast<std::uint32_t>(value)
                                 << (8 * sizeof(Word) * (at % kWordValues));
    }
    group.part[part] = {words[0], words[1], words[2], words[3]};
  }
  return group;
}

// All of a lane's groups; those behind the stretch's end are any.
template <Dtype kDtype, int kRows>
__device__ void load_rows(const cuda::Piece& piece, const Rows& rows, unsigned lane,
                          Group<kDtype> (&groups)[kRows]) {
  constexpr std::uint32_t kRowBytes = kRowValues * Format<kDtype>::kValueBytes;
  if (piece.values % kRowValues == 0 && reinterpret_cast<std::uintptr_t>(piece.at) % 16 == 0) {
#pragma unroll
    for (int at = 0; at < kRows; ++at) {
      // A stretch may be shorter; its last row is as good as any then.
      const int row = min(rows.first + at, rows.all - 1);
      groups[at] = load_group<kDtype>(piece.at + row * kRowBytes, lane);
    }
  } else {
#pragma unroll
    for (int at = 0; at < kRows; ++at) {
      groups[at] = load_group_slowly<kDtype>(piece, rows.first + at, lane);
    }
  }
}

// ---- Exponents ----

// Exponents are in pairs of 16 bits, of the values 0 and 1, 2 and 3, ..., and times this.
inline constexpr std::uint32_t kScale = 128;

template <Dtype kDtype>
__device__ void take_exponents(const Group<kDtype>& group, std::uint32_t (&pairs)[4]) {
  constexpr std::uint32_t kMask = kScale * Format<kDtype>::kLargest * 0x00010001u;
  if constexpr (kDtype == Dtype::kF32) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const uint4& in = group.part[part];
      pairs[2 * part] = __byte_perm(in.x, in.y, 0x7632) & kMask;
      pairs[2 * part + 1] = __byte_perm(in.z, in.w, 0x7632) & kMask;
    }
  } else {
    constexpr int kShift = Format<kDtype>::kShift - 7;
    const uint4& in = group.part[0];
    pairs[0] = in.x >> kShift & kMask;
    pairs[1] = in.y >> kShift & kMask;
    pairs[2] = in.z >> kShift & kMask;
    pairs[3] = in.w >> kShift & kMask;
  }
}

// A byte each of the group's values.
__device__ inline uint2 bytes_of(const std::uint32_t (&pairs)[4]) {
  return {__byte_perm(pairs[0] / kScale, pairs[1] / kScale, 0x6420),
          __byte_perm(pairs[2] / kScale, pairs[3] / kScale, 0x6420)};
}

// ---- Planes ----

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

// The bits of four values, as the highest of a byte each.
__device__ inline std::uint32_t split_signs(std::uint32_t bits) {
  return ((bits & 0xF) * 0x10204080u) & 0x80808080u;
}

// Where the planes may end within a row, only values before `end`, a multiple of 8.
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
      *reinterpret_cast<std::uint16_t*>(out + parts.plane[1] + 2 * place) =
          static_cast<std::uint16_t>(join_pairs(highs.x, highs.y));
      out[parts.plane[2] + place] =
          static_cast<std::byte>(join_bits<7>(highs.x) | join_bits<7>(highs.y) << 4);
    }
  }
}

// The upper bytes of a group of fp16 whose exponents, a byte each, are `exponents`.
__device__ inline uint2 highs_of_f16(const std::byte* in, const Parts& parts, int row,
                                     unsigned lane, uint2 exponents) {
  const int place = row * kRowGroups + static_cast<int>(lane);
  const std::uint32_t pairs =
      *reinterpret_cast<const std::uint16_t*>(in + parts.plane[1] + 2 * place);
  const auto signs = static_cast<std::uint32_t>(in[parts.plane[2] + place]);
  return {(exponents.x << 2 & 0x7C7C7C7Cu) | split_pairs(pairs & 0xFF) | split_signs(signs),
          (exponents.y << 2 & 0x7C7C7C7Cu) | split_pairs(pairs >> 8) | split_signs(signs >> 4)};
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
