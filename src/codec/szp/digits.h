// The tiles' digits on the host.
#pragma once

#include <cstring>

#include "codec/szp/codes.h"

namespace thinwire::codec::szp {

// ---- Writing ----

// Modulo 2^64, which holds it if a row takes at most as many bits.
inline std::uint64_t row_number(const std::uint32_t* row, const Digits& digits) {
  const auto digit = [&](int k) { return std::uint64_t{row[k] + digits.bias}; };
  const std::uint64_t radix = digits.radix;
  return ((digit(3) * radix + digit(2)) * radix + digit(1)) * radix + digit(0);
}

// Two rows at a time.
template <int kPitch>
inline void write_narrow_tile(const std::uint32_t* row, const Digits& digits, Writer& writer) {
  for (int j = 0; j < kTileRows; j += 2, row += 2 * kPitch) {
    const std::uint64_t next = row_number(row + kPitch, digits);
    writer.bits(row_number(row, digits) | next << digits.row_bits, 2 * digits.row_bits);
  }
}

// A row at a time, or half a row.
template <int kPitch>
inline void write_wide_tile(const std::uint32_t* row, const Digits& digits, Writer& writer) {
  const std::uint32_t bits = digits.row_bits / kRowValues;
  for (int j = 0; j < kTileRows; ++j, row += kPitch) {
    if (digits.row_bits <= 64) {
      writer.bits(row_number(row, digits), digits.row_bits);
      continue;
    }
    for (int k = 0; k < kRowValues; k += 2) {
      const std::uint64_t next = row[k + 1] + digits.bias;
      writer.bits((row[k] + digits.bias) | next << bits, 2 * bits);
    }
  }
}

template <int kRank>
inline void write_digits(const Indices& residuals, const IndexBox<kRank>& box, const Codes& codes,
                         Writer& writer) {
  constexpr int kPitch = IndexBox<kRank>::kTileRowsPitch;
  for (int tile = 0; tile < box.tiles; ++tile) {
    if (codes[tile] == 0) continue;
    const Digits digits = kDigits[codes[tile]];
    const std::uint32_t* const row = &residuals[IndexBox<kRank>::tile_at(tile)];
    if (codes[tile] < kFirstWideCode) {
      write_narrow_tile<kPitch>(row, digits, writer);
    } else {
      write_wide_tile<kPitch>(row, digits, writer);
    }
  }
  writer.end_word();
}

// ---- Reading ----

// The bits from bit `at` on, 57 at least.
inline std::uint64_t bits_at(const std::byte* stream, std::uint32_t at) {
  return load<std::uint64_t>(stream + at / 8) >> at % 8;
}

inline std::uint32_t low_bits(std::uint64_t value, std::uint32_t count) {
  return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << count) - 1));
}

// A row's residuals, or with kSums the sums of those up to each: the first step of adding up.
template <bool kSums>
inline void put_row(std::array<std::uint32_t, kRowValues> row, std::uint32_t* to) {
  if constexpr (kSums) {
    for (int k = 1; k < kRowValues; ++k) row[k] += row[k - 1];
  }
  for (int k = 0; k < kRowValues; ++k) to[k] = row[k];
}

template <int kPitch, bool kSums>
inline void read_narrow_tile(const std::byte* stream, std::uint32_t at, const Digits& digits,
                             std::uint32_t* to) {
  for (int j = 0; j < kTileRows; ++j, to += kPitch, at += digits.row_bits) {
    std::array<std::uint32_t, kRowValues> row;
    std::uint32_t number = low_bits(bits_at(stream, at), digits.row_bits);
    for (int k = 0; k < kRowValues - 1; ++k) {
      const std::uint32_t rest = divide(number, digits.reciprocal);
      row[k] = number - rest * digits.radix - digits.bias;
      number = rest;
    }
    row[kRowValues - 1] = number - digits.bias;
    put_row<kSums>(row, to);
  }
}

template <int kPitch, bool kSums>
inline void read_wide_tile(const std::byte* stream, std::uint32_t at, const Digits& digits,
                           std::uint32_t* to) {
  const std::uint32_t bits = digits.row_bits / kRowValues;
  for (int j = 0; j < kTileRows; ++j, to += kPitch) {
    std::array<std::uint32_t, kRowValues> row;
    for (int k = 0; k < kRowValues; ++k, at += bits) {
      row[k] = low_bits(bits_at(stream, at), bits) - digits.bias;
    }
    put_row<kSums>(row, to);
  }
}

// `payload` is what the codes take; digits of tiles outside a clipped box are not looked at.
template <int kRank, bool kSums>
inline void read_digits(ByteView payload, const IndexBox<kRank>& box, const Codes& codes,
                        Indices& residuals) {
  constexpr int kPitch = IndexBox<kRank>::kTileRowsPitch;
  // A copy, so that eight bytes can be read where the last bits are.
  std::array<std::byte, sizeof(Indices) + 8> stream;
  std::memcpy(stream.data(), payload.data(), payload.size());
  std::memset(stream.data() + payload.size(), 0, 8);
  residuals.fill(0);
  std::uint32_t at = 0;
  for (int tile = 0; tile < box.tiles; ++tile) {
    if (codes[tile] == 0) continue;
    const Digits digits = kDigits[codes[tile]];
    std::uint32_t* const to = &residuals[IndexBox<kRank>::tile_at(tile)];
    if (codes[tile] < kFirstWideCode) {
      read_narrow_tile<kPitch, kSums>(stream.data(), at, digits, to);
    } else {
      read_wide_tile<kPitch, kSums>(stream.data(), at, digits, to);
    }
    at += kTileRows * digits.row_bits;
  }
}

// The indices that the digits and the first index stand for.
template <int kRank>
inline void read_indices(ByteView payload, const IndexBox<kRank>& box, const Codes& codes,
                         std::uint32_t corner, bool is_differenced, Indices& indices) {
  if (!is_differenced) {
    read_digits<kRank, false>(payload, box, codes, indices);
    indices[0] = corner;
    return;
  }
  read_digits<kRank, true>(payload, box, codes, indices);
  const std::uint32_t more = corner - indices[0];
  for (int k = 0; k < kRowValues; ++k) indices[k] += more;
  box.sum(indices);
}

}  // namespace thinwire::codec::szp
