// expack's arithmetic: everything that defines bytes. Host and device code; no containers, no
// allocation. See spec/codec-expack.md.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/host_device.h"
#include "codec/expack/format.h"

namespace thinwire::codec::expack {

inline constexpr int kRowValues = 256;
inline constexpr int kGroupValues = 8;
inline constexpr int kRowGroups = kRowValues / kGroupValues;
inline constexpr int kStretches = 4;  // of a chunk: a run of its rows each
inline constexpr int kHeadBytes = 4 * kStretches;
inline constexpr int kDictionarySize = 16;
inline constexpr unsigned kWidths = 5;  // 0 to 4 bits a place

// Raw bytes of a chunk, half as many of 8-bit values, so that the head can count those; smaller
// ones in small arrays, which are done when their slowest chunk is.
inline constexpr int kChunkBytes = 16 * 1024;
inline constexpr int kSmallChunkBytes = 4 * 1024;
inline constexpr std::uint64_t kSmallArrayBytes = 2 * 1024 * 1024;

// What the parameter says.
enum class Mode : std::uint8_t { kAuto = 0, kFixed = 1, kEntropy = 2 };
inline constexpr std::uint64_t kModes = 3;

// How a stretch's exponents are coded: a bit each.
inline constexpr unsigned kEntropyBit = 1;
inline constexpr unsigned kZerosBit = 2;
inline constexpr unsigned kKinds = 4;

// What a value's exponent is to the coder: its distance from the base where that is below
// kFarSymbol, or one of these.
inline constexpr unsigned kFarSymbol = 10;
inline constexpr unsigned kZeroSymbol = 11;  // in kinds with zeros

constexpr bool has_small_chunks(std::uint64_t values, std::uint64_t value_bytes) {
  return values < kSmallArrayBytes / value_bytes;
}

constexpr std::uint64_t chunk_bytes(bool is_small, std::uint64_t value_bytes) {
  return (is_small ? kSmallChunkBytes : kChunkBytes) / (value_bytes == 1 ? 2 : 1);
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t rows_of(std::uint32_t values) {
  return (values + kRowValues - 1) / kRowValues;
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t stretch_rows(std::uint32_t rows) {
  return (rows + kStretches - 1) / kStretches;
}

// ---- Where the parts of a payload lie ----

THINWIRE_HOST_DEVICE constexpr std::uint32_t filled_up(std::uint32_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// Which values the parts are about.
struct Extent {
  std::uint32_t rows;
  std::uint32_t verbatim;    // values in the verbatim planes
  std::uint32_t mask_bytes;  // of the mask, 0 without one
};

THINWIRE_HOST_DEVICE constexpr Extent whole_extent(std::uint32_t rows) {
  return {rows, rows * kRowValues, 0};
}

// Of the `kept` values that the mask of a chunk of `rows` rows names.
THINWIRE_HOST_DEVICE constexpr Extent masked_extent(std::uint32_t kept, std::uint32_t rows) {
  return {rows_of(kept), filled_up(kept), rows * (kRowValues / 8)};
}

struct Parts {
  std::uint32_t bases;
  std::uint32_t plane[3];  // verbatim, the widest first
  std::uint32_t inner;
  std::uint32_t outer;
  std::uint32_t raw;
  std::uint32_t end;
};

// Of a payload whose outer codes take so many bits, with so many raw exponents.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr Parts parts_of(const Extent& extent, std::uint32_t outer_bits,
                                              std::uint32_t raw_exponents) {
  const std::uint32_t verbatim = extent.verbatim;
  Parts parts{};
  parts.bases = kHeadBytes + extent.mask_bytes;
  parts.plane[0] = parts.bases + filled_up(extent.rows);
  if (kDtype == Dtype::kF32) {
    parts.plane[1] = parts.plane[0] + 2 * verbatim;
    parts.plane[2] = parts.plane[1] + verbatim;
    parts.inner = parts.plane[2];
  } else if (kDtype == Dtype::kE4m3) {
    parts.plane[1] = parts.plane[0] + filled_up(verbatim / 2);
    parts.plane[2] = parts.plane[1];
    parts.inner = parts.plane[2];
  } else {
    constexpr bool kIsSplit = kHasPairs<kDtype>;
    parts.plane[1] = parts.plane[0] + (kDtype == Dtype::kE5m2 ? 0 : verbatim);
    parts.plane[2] = parts.plane[1] + (kIsSplit ? filled_up(verbatim / 4) : 0);
    parts.inner = parts.plane[2] + (kIsSplit ? filled_up(verbatim / 8) : 0);
  }
  parts.outer = parts.inner + extent.rows * (kRowValues / 4);
  parts.raw = parts.outer + filled_up((outer_bits + 7) / 8);
  parts.end = parts.raw + filled_up(raw_exponents);
  return parts;
}

// The same with a dictionary, which lies where inner codes would, and places of `width` bits each
// where outer codes would.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr Parts dictionary_parts_of(const Extent& extent, unsigned width,
                                                         std::uint32_t raw_exponents) {
  Parts parts = parts_of<kDtype>(extent, 0, 0);
  parts.outer = parts.inner + kDictionarySize;
  parts.raw = parts.outer + extent.rows * kRowGroups * width;
  parts.end = parts.raw + filled_up(raw_exponents);
  return parts;
}

// A stretch's word of the head: where its outer codes and raw exponents end, and its kind.
THINWIRE_HOST_DEVICE constexpr std::uint32_t head_word(unsigned kind, std::uint32_t outer_end,
                                                       std::uint32_t raw_end) {
  return outer_end | kind << 15 | raw_end << 17;
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t outer_end_of(std::uint32_t word) {
  return word & 0x7FFF;
}

THINWIRE_HOST_DEVICE constexpr unsigned kind_of(std::uint32_t word) { return word >> 15 & 3; }

THINWIRE_HOST_DEVICE constexpr std::uint32_t raw_end_of(std::uint32_t word) {
  return word >> 17 & 0x3FFF;
}

// In the first word: there is a mask; in the second: there is a dictionary; in no other.
inline constexpr std::uint32_t kHeadFlag = 0x80000000u;

THINWIRE_HOST_DEVICE constexpr std::uint32_t head_flag(std::uint32_t place, bool has_mask,
                                                       bool has_dictionary) {
  return (place == 0 && has_mask) || (place == 1 && has_dictionary) ? kHeadFlag : 0;
}

// ---- Bases ----

template <Dtype kDtype>
inline constexpr int kLargestBase = Format<kDtype>::kLargest - 9;

// Of a row with `count` exponents that are not 0, which add up to `sum`.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr std::uint32_t base_of(std::uint32_t sum, std::uint32_t count) {
  // A full count is most frequent by far, and division slow on a device.
  const std::uint32_t mean =
      count == kRowValues ? sum / kRowValues : sum / (count == 0 ? 1 : count);
  const std::uint32_t base = mean < 5 ? 0 : mean - 5;
  return base < kLargestBase<kDtype> ? base : kLargestBase<kDtype>;
}

// ---- Symbols to codes ----

// The code of each symbol, a byte each: bits 0 and 1 are the inner code, bit 2 the high bit in
// fixed kinds, bits 4 to 6 the outer code in the others.
inline constexpr unsigned kOuterFlag = 0x04;  // there is an outer code, in entropy kinds
inline constexpr unsigned kRawFlag = 0x08;    // there is a raw exponent

struct CodeTable {
  std::uint64_t low;   // of the symbols 0 to 7
  std::uint64_t high;  // of 8 and above
};

THINWIRE_HOST_DEVICE constexpr CodeTable code_table(unsigned kind) {
  switch (kind) {
    case 0:
      return {0x0504030201000F0Fu, 0x000F0F06u};
    case 1:
      return {0x0201004737271707u, 0x007F6757u};
    case 2:
      return {0x05040302010F0F0Fu, 0x000F0F06u};
    default:
      return {0x470100372717077Fu, 0x027F6757u};
  }
}

// ---- Codes to distances ----

// What stands for a distance in the tables: there is none.
inline constexpr unsigned kRawMark = 0x80;
inline constexpr unsigned kZeroMark = 0x40;
inline constexpr unsigned kDistanceBits = 0x0F;

// The distance of each inner code in entropy kinds, a byte each; 0 for the code 3.
THINWIRE_HOST_DEVICE constexpr std::uint32_t inner_distances(unsigned kind) {
  return (kind & kZerosBit) != 0 ? 0x00400605u : 0x00070605u;
}

// The distance of each outer code, or of each code in fixed kinds.
THINWIRE_HOST_DEVICE constexpr std::uint64_t outer_distances(unsigned kind) {
  switch (kind) {
    case 0:
      return 0x8008070605040302u;
    case 1:
      return 0x8009080403020100u;
    case 2:
      return 0x8008070605040340u;
    default:
      return 0x8009080704030201u;
  }
}

}  // namespace thinwire::codec::expack
