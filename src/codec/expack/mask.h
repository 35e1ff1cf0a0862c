// Chunks with many zeros on the host: a mask, and the other values one after the other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "codec/accumulate.h"
#include "codec/expack/core.h"

namespace thinwire::codec::expack {

// Values of a chunk with its last row filled up; a loop without branches may touch one more.
using FilledValues = std::array<std::byte, kChunkBytes + 8>;

template <Dtype kDtype>
inline std::uint32_t count_exact_zeros(const std::byte* source, std::uint32_t values) {
  using Word = WordOf<kDtype>;
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < values; ++at) {
    count += load<Word>(source + at * sizeof(Word)) == 0 ? 1u : 0u;
  }
  return count;
}

// The position in its row of the value `at` of a group.
template <Dtype kDtype>
constexpr std::uint32_t place_in_row(std::uint32_t group, std::uint32_t at) {
  if constexpr (kDtype != Dtype::kF32) return kGroupValues * group + at;
  return at / 4 * (kRowValues / 2) + 4 * group + at % 4;
}

// The values of whole rows that are not zero, in row order, and the mask that names them; returns
// their number.
template <Dtype kDtype>
inline std::uint32_t leave_zeros_out(const std::byte* source, std::uint32_t rows, std::byte* mask,
                                     FilledValues& kept) {
  using Word = WordOf<kDtype>;
  std::uint32_t count = 0;
  for (std::uint32_t row = 0; row < rows; ++row, source += kRowValues * sizeof(Word)) {
    for (std::uint32_t group = 0; group < kRowGroups; ++group) {
      unsigned bits = 0;
      for (std::uint32_t at = 0; at < kGroupValues; ++at) {
        const auto word = load<Word>(source + place_in_row<kDtype>(group, at) * sizeof(Word));
        store(kept.data() + count * sizeof(Word), word);
        count += word != 0 ? 1u : 0u;
        bits |= (word != 0 ? 1u : 0u) << at;
      }
      *mask++ = static_cast<std::byte>(bits);
    }
  }
  return count;
}

// How many values a mask names.
inline std::uint32_t count_kept(const std::byte* mask, std::uint32_t rows) {
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < rows * (kRowValues / 8); at += 8) {
    count += static_cast<std::uint32_t>(std::popcount(load<std::uint64_t>(mask + at)));
  }
  return count;
}

// The reverse of leave_zeros_out().
template <Dtype kDtype>
inline void put_zeros_in(const std::byte* mask, const FilledValues& kept, std::uint32_t rows,
                         std::byte* out) {
  using Word = WordOf<kDtype>;
  const std::byte* next = kept.data();
  for (std::uint32_t row = 0; row < rows; ++row, out += kRowValues * sizeof(Word)) {
    for (std::uint32_t group = 0; group < kRowGroups; ++group) {
      const auto bits = static_cast<unsigned>(*mask++);
      for (std::uint32_t at = 0; at < kGroupValues; ++at) {
        const unsigned bit = bits >> at & 1;
        const auto every_bit = static_cast<Word>(0 - bit);
        const auto word = static_cast<Word>(load<Word>(next) & every_bit);
        store(out + place_in_row<kDtype>(group, at) * sizeof(Word), word);
        next += bit * sizeof(Word);
      }
    }
  }
}

}  // namespace thinwire::codec::expack
