// Values of a lane's group, and their exponents; spec/codec-expack.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/cuda/piece.cuh"
#include "codec/expack/warp.cuh"

namespace thinwire::codec::expack {

// A lane's group of a row: 16 bytes of values of 16 bits, 8 of values of 8 bits; of fp32, the 16
// bytes in each half of the row.
template <Dtype kDtype>
struct Group {
  static constexpr int kParts = Format<kDtype>::kValueBytes == 4 ? 2 : 1;
  static constexpr int kPartValues = kGroupValues / kParts;
  static constexpr int kWords = kPartValues * Format<kDtype>::kValueBytes / 4;  // of a part
  using Part = std::conditional_t<kWords == 2, uint2, uint4>;

  Part part[kParts];

  // The value in the row that begins a part.
  __device__ static int first(int part, unsigned lane) {
    return part * (kRowValues / 2) + kPartValues * static_cast<int>(lane);
  }
};

// A part from its words, and back.
__device__ inline void put_words(const std::uint32_t (&words)[2], uint2& part) {
  part = {words[0], words[1]};
}

__device__ inline void put_words(const std::uint32_t (&words)[4], uint4& part) {
  part = {words[0], words[1], words[2], words[3]};
}

__device__ inline void take_words(uint2 part, std::uint32_t (&words)[2]) {
  words[0] = part.x;
  words[1] = part.y;
}

__device__ inline void take_words(uint4 part, std::uint32_t (&words)[4]) {
  words[0] = part.x;
  words[1] = part.y;
  words[2] = part.z;
  words[3] = part.w;
}

// Loads a group from an array aligned to 16 bytes.
template <Dtype kDtype>
__device__ Group<kDtype> load_group(const std::byte* row, unsigned lane) {
  Group<kDtype> group;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    const int first = Group<kDtype>::first(part, lane);
    group.part[part] = *reinterpret_cast<const typename Group<kDtype>::Part*>(
        row + first * Format<kDtype>::kValueBytes);
  }
  return group;
}

// Loads a group at any alignment; in place of values after the array's last one, copies of that.
template <Dtype kDtype>
__device__ Group<kDtype> load_group_slowly(const cuda::Piece& piece, int row, unsigned lane) {
  using Word = WordOf<kDtype>;
  constexpr int kWordValues = 4 / sizeof(Word);
  Group<kDtype> group;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    std::uint32_t words[Group<kDtype>::kWords] = {};
#pragma unroll
    for (int at = 0; at < Group<kDtype>::kPartValues; ++at) {
      const std::uint32_t wanted = row * kRowValues + Group<kDtype>::first(part, lane) + at;
      const std::uint32_t number = min(wanted, piece.values - 1);
      const auto value = cuda::load_value<Word>(piece.at + number * sizeof(Word));
      words[at / kWordValues] |= static_cast<std::uint32_t>(value)
                                 << (8 * sizeof(Word) * (at % kWordValues));
    }
    put_words(words, group.part[part]);
  }
  return group;
}

// Loads all of a lane's groups; any values in place of those after the stretch's end.
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
  } else if constexpr (Format<kDtype>::kValueBytes == 1) {
    constexpr int kShift = 7 - Format<kDtype>::kShift;
    const uint2& in = group.part[0];
    pairs[0] = __byte_perm(in.x, 0, 0x4140) << kShift & kMask;
    pairs[1] = __byte_perm(in.x, 0, 0x4342) << kShift & kMask;
    pairs[2] = __byte_perm(in.y, 0, 0x4140) << kShift & kMask;
    pairs[3] = __byte_perm(in.y, 0, 0x4342) << kShift & kMask;
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

}  // namespace thinwire::codec::expack
