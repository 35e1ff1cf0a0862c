// A payload's codes, or places in its dictionary, to exponents, on the host.
#pragma once

#include <algorithm>
#include <array>

#include "codec/expack/dictionary.h"
#include "codec/expack/rows.h"

namespace thinwire::codec::expack {

// A stretch of a chunk: its rows, kind, and where its outer codes (bits) and raw exponents lie.
struct CodedStretch {
  std::uint32_t first_row;
  std::uint32_t rows;
  unsigned kind;
  std::uint32_t outer_begin;
  std::uint32_t outer_end;
  std::uint32_t raw_begin;
  std::uint32_t raw_end;
};

inline CodedStretch stretch_of(const std::byte* head, std::uint32_t rows, std::uint32_t place) {
  const std::uint32_t each = stretch_rows(rows);
  const std::uint32_t first = std::min(place * each, rows);
  const auto before = place == 0 ? 0 : load<std::uint32_t>(head + 4 * (place - 1));
  const auto word = load<std::uint32_t>(head + 4 * place);
  return {first,
          std::min(each, rows - first),
          kind_of(word),
          outer_end_of(before),
          outer_end_of(word),
          raw_end_of(before),
          raw_end_of(word)};
}

// The outer codes of each group of a chunk, and how many bits they take.
struct Groups {
  std::array<std::array<std::uint64_t, kRowGroups>, kMostRows / kStretches> codes;
  std::array<std::array<std::uint32_t, kRowGroups>, kMostRows / kStretches> bits;
};

// False if there are more or fewer outer codes than the stretch should have. `outer` may be read
// 8 bytes past its end.
inline bool take_groups(const std::byte* inner, const std::byte* outer, const CodedStretch& stretch,
                        Groups& groups) {
  std::array<std::array<std::uint32_t, kRowGroups>, kMostRows / kStretches> lengths;
  const bool is_entropy = (stretch.kind & kEntropyBit) != 0;
  std::uint32_t all = 0;
  for (std::uint32_t row = 0; row < stretch.rows; ++row) {
    const std::byte* const of_row = inner + (stretch.first_row + row) * (kRowValues / 4);
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t codes = split_pairs(load<std::uint16_t>(of_row + 2 * group));
      groups.codes[row][group] = codes;
      const std::uint32_t length = is_entropy ? 3 * sum_bytes(codes & codes >> 1 & kEach) : 8;
      lengths[row][group] = length;
      all += length;
    }
  }
  if (stretch.outer_begin + all != stretch.outer_end) return false;
  std::uint32_t at = stretch.outer_begin;
  for (int group = 0; group < kRowGroups; ++group) {
    for (std::uint32_t row = 0; row < stretch.rows; ++row) {
      groups.bits[row][group] =
          static_cast<std::uint32_t>(load<std::uint64_t>(outer + at / 8) >> (at % 8));
      at += lengths[row][group];
    }
  }
  return true;
}

// Distances of a row of an entropy kind.
template <Dtype kDtype>
inline void take_distances(const Groups& groups, std::uint32_t row, unsigned kind,
                           std::uint8_t* distances) {
  // A table by the inner code, or by 3 and the outer one.
  const std::uint64_t outer_table = outer_distances(kind);
  const std::uint64_t low = (inner_distances(kind) & 0xFFFFFFu) | outer_table << 24;
  const std::uint64_t high = outer_table >> 40;
  for (int group = 0; group < kRowGroups; ++group) {
    const std::uint64_t codes = groups.codes[row][group];
    const std::uint64_t chosen = codes & codes >> 1 & kEach;
    const std::uint64_t spread = apart(split_threes(groups.bits[row][group]), find_moves(chosen));
    put_group_bytes<kDtype>(distances, group, codes + (spread & whole_bytes(chosen)));
  }
  look_up_row(low, high, distances);
}

// The same of a fixed kind.
template <Dtype kDtype>
inline void take_fixed_distances(const Groups& groups, std::uint32_t row, unsigned kind,
                                 std::uint8_t* distances) {
  for (int group = 0; group < kRowGroups; ++group) {
    const auto bits = static_cast<std::uint8_t>(groups.bits[row][group]);
    put_group_bytes<kDtype>(distances, group, groups.codes[row][group] | split_bits(bits) << 2);
  }
  look_up_row(outer_distances(kind), 0, distances);
}

// Distances to exponents, but for raw ones.
inline void add_base(std::uint8_t* row, std::uint8_t base) {
  for (int at = 0; at < kRowValues; ++at) {
    const auto exponent = static_cast<std::uint8_t>(base + (row[at] & kDistanceBits));
    row[at] = (row[at] & kZeroMark) != 0 ? 0 : exponent;
  }
}

// Puts a stretch's raw exponents in place; `marks` are its distances. False if there are more or
// fewer than `raw`.
template <Dtype kDtype>
inline bool put_raw(const std::uint8_t* marks, std::uint32_t rows, ByteView raw,
                    std::uint8_t* exponents) {
  for (int group = 0; group < kRowGroups; ++group) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      std::uint64_t left = group_bytes<kDtype>(marks + row * kRowValues, group) & kEach * kRawMark;
      if (left == 0) continue;
      if (static_cast<std::size_t>(std::popcount(left)) > raw.size()) return false;
      std::uint64_t bytes = group_bytes<kDtype>(exponents + row * kRowValues, group);
      for (; left != 0; left &= left - 1) {
        const int place = std::countr_zero(left) & ~7;
        bytes &= ~(std::uint64_t{0xFF} << place);
        bytes |= static_cast<std::uint64_t>(raw.front()) << place;
        raw = raw.subspan(1);
      }
      put_group_bytes<kDtype>(exponents + row * kRowValues, group, bytes);
    }
  }
  return raw.empty();
}

// False if the stretch's parts disagree.
template <Dtype kDtype>
inline bool take_stretch(const std::byte* in, const Parts& parts, const std::byte* outer,
                         const CodedStretch& stretch, std::uint8_t* exponents) {
  Groups groups;
  if (!take_groups(in + parts.inner, outer, stretch, groups)) return false;
  std::array<std::uint8_t, kMostValues / kStretches> marks;
  std::uint32_t largest_base = 0;
  for (std::uint32_t row = 0; row < stretch.rows; ++row) {
    std::uint8_t* const of_row = exponents + row * kRowValues;
    if ((stretch.kind & kEntropyBit) != 0) {
      take_distances<kDtype>(groups, row, stretch.kind, of_row);
    } else {
      take_fixed_distances<kDtype>(groups, row, stretch.kind, of_row);
    }
    std::copy_n(of_row, kRowValues, marks.data() + row * kRowValues);
    const auto base = static_cast<std::uint8_t>(in[parts.bases + stretch.first_row + row]);
    largest_base = std::max<std::uint32_t>(largest_base, base);
    add_base(of_row, base);
  }
  if (stretch.raw_begin > stretch.raw_end || largest_base > kLargestBase<kDtype>) return false;
  const ByteView raw(in + parts.raw + stretch.raw_begin, stretch.raw_end - stretch.raw_begin);
  return put_raw<kDtype>(marks.data(), stretch.rows, raw, exponents);
}

// The exponents of a payload with codes. False if its parts disagree.
template <Dtype kDtype>
inline bool take_coded(ByteView encoded, const Parts& parts, std::uint32_t rows,
                       ByteRows& exponents) {
  std::array<std::byte, kMostValues * 3 / 8 + 16> outer;
  const std::uint32_t bytes = parts.raw - parts.outer;
  std::memcpy(outer.data(), encoded.data() + parts.outer, bytes);
  std::memset(outer.data() + bytes, 0, 8);
  for (std::uint32_t place = 0; place < kStretches; ++place) {
    const CodedStretch stretch = stretch_of(encoded.data(), rows, place);
    if (stretch.raw_end > parts.end - parts.raw) return false;
    std::uint8_t* const of_stretch = exponents.data() + stretch.first_row * kRowValues;
    if (!take_stretch<kDtype>(encoded.data(), parts, outer.data(), stretch, of_stretch)) {
      return false;
    }
  }
  return true;
}

// The exponents of a payload with a dictionary, all of whose parts are inside.
template <Dtype kDtype>
inline bool take_listed(ByteView encoded, const Parts& parts, std::uint32_t rows, unsigned width,
                        ByteRows& exponents) {
  const std::byte* const in = encoded.data();
  const std::uint32_t all_raw = raw_end_of(load<std::uint32_t>(in + kHeadBytes - 4));
  ByteRows marks;
  take_places<kDtype>(in + parts.outer, rows, width, exponents);
  const auto raw_place = static_cast<std::uint8_t>(all_raw > 0 ? (1u << width) - 1 : kRawPlace);
  for (std::uint32_t at = 0; at < rows * kRowValues; ++at) {
    marks[at] = exponents[at] == raw_place ? kRawMark : 0;
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    look_up_row(load<std::uint64_t>(in + parts.inner), load<std::uint64_t>(in + parts.inner + 8),
                exponents.data() + row * kRowValues);
  }
  for (std::uint32_t place = 0; place < kStretches; ++place) {
    const CodedStretch stretch = stretch_of(in, rows, place);
    const bool is_sound = stretch.kind == 0 && stretch.outer_end == width &&
                          stretch.raw_begin <= stretch.raw_end && stretch.raw_end <= all_raw;
    if (!is_sound) return false;
    const std::uint32_t first = stretch.first_row * kRowValues;
    const ByteView raw(in + parts.raw + stretch.raw_begin, stretch.raw_end - stretch.raw_begin);
    if (!put_raw<kDtype>(marks.data() + first, stretch.rows, raw, exponents.data() + first)) {
      return false;
    }
  }
  return true;
}

}  // namespace thinwire::codec::expack
