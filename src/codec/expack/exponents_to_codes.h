// A chunk's exponents to codes, on the host.
#pragma once

#include <algorithm>
#include <array>

#include "codec/expack/choices.h"
#include "codec/expack/rows.h"

namespace thinwire::codec::expack {

// The codes of a chunk's exponents, made before the payload's size is known.
struct Codes {
  std::array<std::uint8_t, kMostRows> bases{};
  std::array<std::byte, kMostValues / 4> inner;       // or a dictionary
  std::array<std::byte, kMostValues / 2 + 16> outer;  // or positions in the dictionary
  std::array<std::byte, kMostValues + 8> raw;
  std::array<std::uint32_t, kStretches> head{};
  std::uint32_t outer_bits = 0;
  std::uint32_t raw_exponents = 0;
  std::uint64_t pending = 0;  // outer bits after the last whole byte
};

// Appends `count` bits, at most 32, to the outer codes.
inline void add_outer(Codes& codes, std::uint32_t bits, std::uint32_t count) {
  const std::uint32_t within = codes.outer_bits % 8;
  codes.pending |= std::uint64_t{bits} << within;
  store(codes.outer.data() + codes.outer_bits / 8, codes.pending);
  codes.outer_bits += count;
  codes.pending >>= (within + count) & ~7u;
}

// One stretch's rows: exponents and codes, a byte each in plain order.
template <Dtype kDtype>
struct ExponentStretch {
  const std::uint8_t* exponents;
  const std::uint8_t* bytes;
  std::uint32_t first_row;
  std::uint32_t rows;
  unsigned kind;
};

template <Dtype kDtype>
inline void put_inner(const ExponentStretch<kDtype>& stretch, Codes& codes) {
  std::byte* const out = codes.inner.data() + stretch.first_row * (kRowValues / 4);
  for (std::uint32_t row = 0; row < stretch.rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(stretch.bytes + row * kRowValues, group);
      store(out + 2 * (row * kRowGroups + group), join_pairs(bytes));
    }
  }
}

template <Dtype kDtype>
inline void put_outer(const ExponentStretch<kDtype>& stretch, Codes& codes) {
  std::array<std::array<std::uint32_t, kRowGroups>, kMostRows / kStretches> bits;
  std::array<std::array<std::uint32_t, kRowGroups>, kMostRows / kStretches> lengths;
  const bool is_entropy = (stretch.kind & kEntropyBit) != 0;
  for (std::uint32_t row = 0; row < stretch.rows; ++row) {
    const std::uint8_t* const of_row = stretch.bytes + row * kRowValues;
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(of_row, group);
      const std::uint64_t chosen = bytes >> 2 & kEach;
      const std::uint64_t outer = together(bytes >> 4 & 7 * kEach, find_moves(chosen));
      bits[row][group] = is_entropy ? join_threes(outer) : join_bits(chosen);
      lengths[row][group] = is_entropy ? 3 * sum_bytes(chosen) : kGroupValues;
    }
  }
  for (int group = 0; group < kRowGroups; ++group) {
    for (std::uint32_t row = 0; row < stretch.rows; ++row) {
      add_outer(codes, bits[row][group], lengths[row][group]);
    }
  }
}

// The exponents whose bytes have `flag`.
template <Dtype kDtype>
inline void put_raw(const ExponentStretch<kDtype>& stretch, unsigned flag, Codes& codes) {
  for (int group = 0; group < kRowGroups; ++group) {
    for (std::uint32_t row = 0; row < stretch.rows; ++row) {
      std::uint64_t raw = group_bytes<kDtype>(stretch.bytes + row * kRowValues, group);
      raw &= kEach * flag;
      if (raw == 0) continue;
      const std::uint64_t exponents =
          group_bytes<kDtype>(stretch.exponents + row * kRowValues, group);
      for (; raw != 0; raw &= raw - 1) {
        codes.raw[codes.raw_exponents++] =
            static_cast<std::byte>(exponents >> (std::countr_zero(raw) & ~7));
      }
    }
  }
}

// Symbols become the codes of the kind that the stretch takes.
inline unsigned take_kind(std::uint64_t mode, bool has_zeros, std::uint32_t rows,
                          std::uint8_t* symbols) {
  const std::uint32_t values = rows * kRowValues;
  const auto totals = count_symbols(symbols, values);
  const unsigned fixed = has_zeros ? kZerosBit : 0;
  const unsigned entropy = fixed | kEntropyBit;
  const bool is_entropy =
      takes_entropy(mode, values, count_flags(totals, entropy, kOuterFlag),
                    count_flags(totals, entropy, kRawFlag), count_flags(totals, fixed, kRawFlag));
  const CodeTable table = code_table(is_entropy ? entropy : fixed);
  for (std::uint32_t row = 0; row < rows; ++row) {
    look_up_row(table.low, table.high, symbols + row * kRowValues);
  }
  return is_entropy ? entropy : fixed;
}

template <Dtype kDtype>
inline unsigned code_stretch(const std::uint8_t* exponents, std::uint32_t first_row,
                             std::uint32_t rows, std::uint64_t mode, Codes& codes) {
  std::array<std::uint32_t, kMostRows / kStretches> zeros{};
  std::uint32_t all_zeros = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    zeros[row] = count_zeros(exponents + row * kRowValues);
    all_zeros += zeros[row];
  }
  const bool has_zeros = takes_zeros(all_zeros, rows * kRowValues);
  std::array<std::uint8_t, kMostValues / kStretches> bytes;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint8_t* const of_row = exponents + row * kRowValues;
    const auto base = static_cast<std::uint8_t>(base_of_row<kDtype>(of_row, zeros[row]));
    codes.bases[first_row + row] = base;
    take_symbols(of_row, base, has_zeros, bytes.data() + row * kRowValues);
  }
  const unsigned kind = take_kind(mode, has_zeros, rows, bytes.data());
  const ExponentStretch<kDtype> stretch{exponents, bytes.data(), first_row, rows, kind};
  put_inner(stretch, codes);
  put_outer(stretch, codes);
  put_raw(stretch, kRawFlag, codes);
  return kind;
}

// Codes of all stretches, and the words of the head.
template <Dtype kDtype>
inline void code_rows(const ByteRows& exponents, std::uint32_t rows, std::uint64_t mode,
                      Codes& codes) {
  const std::uint32_t each = stretch_rows(rows);
  for (std::uint32_t place = 0; place < kStretches; ++place) {
    const std::uint32_t first = std::min(place * each, rows);
    const std::uint32_t own = std::min(each, rows - first);
    unsigned kind = 0;
    if (own > 0) {
      kind = code_stretch<kDtype>(exponents.data() + first * kRowValues, first, own, mode, codes);
    }
    codes.head[place] = head_word(kind, codes.outer_bits, codes.raw_exponents);
  }
}

}  // namespace thinwire::codec::expack
