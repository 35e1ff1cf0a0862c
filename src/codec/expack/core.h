// Definitions of expack's bytes: sizes, the parts of a payload, and the codes of exponents. Host
// and device code; no containers, no allocation.
//
// A chunk is cut into rows of 256 values and four stretches of whole rows. A payload begins with a
// word for each stretch. From it a decoder learns where the stretch's codes end, and by which of
// four kinds they are read: a value's exponent is the base of its row plus the distance that its
// code stands for. See spec/codec-expack.md.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/host_device.h"
#include "codec/expack/format.h"

namespace thinwire::codec::expack {

inline constexpr int kRowValues = 256;
inline constexpr int kGroupValues = 8;
inline constexpr int kRowGroups = kRowValues / kGroupValues;
inline constexpr int kStretches = 4;  // runs of a chunk's rows
inline constexpr int kHeadBytes = 4 * kStretches;
inline constexpr int kDictionarySize = 16;
inline constexpr unsigned kWidths = 5;  // 0 to 4 bits for a position in the dictionary

// Raw bytes of a chunk; of 8-bit values half as many, or the head's 15 bits could not count the
// bits of their codes. Small arrays have smaller chunks: they are done when their slowest chunk is.
inline constexpr int kChunkBytes = 16 * 1024;
inline constexpr int kSmallChunkBytes = 4 * 1024;
inline constexpr std::uint64_t kSmallArrayBytes = 2 * 1024 * 1024;

// The parameter: kFixed allows kinds without kEntropyBit alone, kEntropy those with it alone, kAuto
// all kinds and a dictionary. A decoder takes any kind under each.
enum class Mode : std::uint8_t { kAuto = 0, kFixed = 1, kEntropy = 2 };
inline constexpr std::uint64_t kModes = 3;

// The bits of a kind. With kEntropyBit, codes are of 2 or 5 bits, else of 3; with kZerosBit one
// code stands for the exponent 0.
inline constexpr unsigned kEntropyBit = 1;
inline constexpr unsigned kZerosBit = 2;
inline constexpr unsigned kKinds = 4;

// Symbols, to which an encoder turns exponents before it has chosen a kind: the distance from the
// base if that is below kFarSymbol, or one of these.
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

// ---- Offsets of the parts of a payload ----

THINWIRE_HOST_DEVICE constexpr std::uint32_t filled_up(std::uint32_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// The sizes from which the offsets of a payload's parts follow.
struct Extent {
  std::uint32_t rows;
  std::uint32_t verbatim;    // values in the verbatim planes
  std::uint32_t mask_bytes;  // of the mask, 0 without one
};

// The extent of a chunk without a mask.
THINWIRE_HOST_DEVICE constexpr Extent whole_extent(std::uint32_t rows) {
  return {rows, rows * kRowValues, 0};
}

// The extent of a chunk of `rows` rows whose mask keeps `kept` values.
THINWIRE_HOST_DEVICE constexpr Extent masked_extent(std::uint32_t kept, std::uint32_t rows) {
  return {rows_of(kept), filled_up(kept), rows * (kRowValues / 8)};
}

// Offsets of a payload's parts, in bytes.
struct Parts {
  std::uint32_t bases;
  std::uint32_t plane[3];  // planes of sign and mantissa, the widest first
  std::uint32_t inner;
  std::uint32_t outer;
  std::uint32_t raw;
  std::uint32_t end;
};

// The offsets in a payload whose outer codes take `outer_bits` bits, and which has `raw_exponents`
// raw exponents.
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

// The same with a dictionary, which lies at `inner`, and with positions of `width` bits each, which
// lie at `outer`.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr Parts dictionary_parts_of(const Extent& extent, unsigned width,
                                                         std::uint32_t raw_exponents) {
  Parts parts = parts_of<kDtype>(extent, 0, 0);
  parts.outer = parts.inner + kDictionarySize;
  parts.raw = parts.outer + extent.rows * kRowGroups * width;
  parts.end = parts.raw + filled_up(raw_exponents);
  return parts;
}

// A stretch's word of the head: the ends of its outer codes, in bits, and of its raw exponents, in
// bytes, both counted from the chunk's first; and its kind.
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

// The flag of a word of the head: in the first one, there is a mask; in the second, there is a
// dictionary; the others have none.
inline constexpr std::uint32_t kHeadFlag = 0x80000000u;

THINWIRE_HOST_DEVICE constexpr std::uint32_t head_flag(std::uint32_t place, bool has_mask,
                                                       bool has_dictionary) {
  return (place == 0 && has_mask) || (place == 1 && has_dictionary) ? kHeadFlag : 0;
}

// ---- Bases ----

template <Dtype kDtype>
inline constexpr int kLargestBase = Format<kDtype>::kLargest - 9;

// The base of a row with `count` exponents that are not 0, which add up to `sum`. Only encoders
// compute it; a payload has it.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr std::uint32_t base_of(std::uint32_t sum, std::uint32_t count) {
  // Nearly all rows have a full count, and division is slow on a device.
  const std::uint32_t mean =
      count == kRowValues ? sum / kRowValues : sum / (count == 0 ? 1 : count);
  const std::uint32_t base = mean < 5 ? 0 : mean - 5;
  return base < kLargestBase<kDtype> ? base : kLargestBase<kDtype>;
}

// ---- Symbols to codes ----

// The code of each symbol, for encoders, a byte each. Bits 0 and 1 are the inner code. In fixed
// kinds bit 2 is the outer code; in entropy kinds it says that there is one, which bits 4 to 6
// have. Bit 3 says that a raw exponent follows.
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

// Entries of the tables for codes that stand for no distance: a raw exponent follows, or the
// exponent is 0.
inline constexpr unsigned kRawMark = 0x80;
inline constexpr unsigned kZeroMark = 0x40;
inline constexpr unsigned kDistanceBits = 0x0F;

// The distance of each inner code in entropy kinds, a byte each. That of the code 3 is 0: the outer
// code has it.
THINWIRE_HOST_DEVICE constexpr std::uint32_t inner_distances(unsigned kind) {
  return (kind & kZerosBit) != 0 ? 0x00400605u : 0x00070605u;
}

// The distance of each outer code in entropy kinds, and of each code of 3 bits in fixed kinds, a
// byte each.
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
