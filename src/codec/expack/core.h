// expack's arithmetic: everything that defines bytes. Host and device code; no containers, no
// allocation. See spec/codec-expack.md.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/host_device.h"

namespace thinwire::codec::expack {

inline constexpr int kRowValues = 256;
inline constexpr int kGroupValues = 8;
inline constexpr int kRowGroups = kRowValues / kGroupValues;
inline constexpr int kChunkBytes = 16 * 1024;
inline constexpr int kHeadBytes = 8;

// What the parameter says.
enum class Mode : std::uint8_t { kAuto = 0, kFixed = 1, kEntropy = 2 };
inline constexpr std::uint64_t kModes = 3;

// How a chunk's exponents are coded: a bit each.
inline constexpr unsigned kEntropyBit = 1;
inline constexpr unsigned kZerosBit = 2;
inline constexpr unsigned kKinds = 4;

// What a value's exponent is to the coder: its distance from the base where that is below
// kWindow, or one of these.
inline constexpr unsigned kWindow = 10;
inline constexpr unsigned kFarSymbol = 10;
inline constexpr unsigned kZeroSymbol = 11;

// ---- The types ----

template <Dtype kDtype>
struct Format;

template <>
struct Format<Dtype::kBf16> {
  static constexpr int kValueBytes = 2;
  static constexpr int kLargest = 255;  // exponent
  static constexpr int kShift = 7;      // of the exponent in a value
};

template <>
struct Format<Dtype::kF16> {
  static constexpr int kValueBytes = 2;
  static constexpr int kLargest = 31;
  static constexpr int kShift = 10;
};

template <>
struct Format<Dtype::kF32> {
  static constexpr int kValueBytes = 4;
  static constexpr int kLargest = 255;
  static constexpr int kShift = 23;
};

template <Dtype kDtype>
inline constexpr int kChunkValues = kChunkBytes / Format<kDtype>::kValueBytes;

THINWIRE_HOST_DEVICE constexpr std::uint32_t rows_of(std::uint32_t values) {
  return (values + kRowValues - 1) / kRowValues;
}

// ---- Where the parts of a payload lie ----

THINWIRE_HOST_DEVICE constexpr std::uint32_t filled_up(std::uint32_t bytes) {
  return (bytes + 7) / 8 * 8;
}

struct Parts {
  std::uint32_t bases;
  std::uint32_t plane[3];  // verbatim, the widest first
  std::uint32_t inner;
  std::uint32_t high_or_outer;
  std::uint32_t raw;
  std::uint32_t end;
};

// Of a payload of `rows` rows with so many outer codes and raw exponents.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr Parts parts_of(std::uint32_t rows, unsigned kind,
                                              std::uint32_t outer_codes,
                                              std::uint32_t raw_exponents) {
  Parts parts{};
  parts.bases = kHeadBytes;
  parts.plane[0] = parts.bases + filled_up(rows);
  if (kDtype == Dtype::kF32) {
    parts.plane[1] = parts.plane[0] + rows * (2 * kRowValues);
    parts.plane[2] = parts.plane[1] + rows * kRowValues;
    parts.inner = parts.plane[2];
  } else {
    const bool is_half = kDtype == Dtype::kF16;
    parts.plane[1] = parts.plane[0] + rows * kRowValues;
    parts.plane[2] = parts.plane[1] + (is_half ? rows * (kRowValues / 4) : 0);
    parts.inner = parts.plane[2] + (is_half ? rows * (kRowValues / 8) : 0);
  }
  parts.high_or_outer = parts.inner + rows * (kRowValues / 4);
  const std::uint32_t second =
      (kind & kEntropyBit) != 0 ? filled_up((3 * outer_codes + 7) / 8) : rows * (kRowValues / 8);
  parts.raw = parts.high_or_outer + second;
  parts.end = parts.raw + filled_up(raw_exponents);
  return parts;
}

THINWIRE_HOST_DEVICE constexpr std::uint64_t head_word(unsigned kind, std::uint32_t outer_codes,
                                                       std::uint32_t raw_exponents) {
  return outer_codes | std::uint64_t{raw_exponents} << 16 | std::uint64_t{kind} << 32;
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

// The code of each symbol, a byte each. In fixed kinds bits 0 to 2; in the others bits 0 and 1 the
// inner code and bits 4 to 6 the outer one.
inline constexpr unsigned kOuterFlag = 0x04;  // there is an outer code; in entropy kinds
inline constexpr unsigned kRawFlag = 0x08;    // there is a raw exponent

struct CodeTable {
  std::uint64_t low;   // of the symbols 0 to 7
  std::uint64_t high;  // of 8 and above
};

THINWIRE_HOST_DEVICE constexpr CodeTable code_table(unsigned kind) {
  switch (kind) {
    case 0:
      return {0x0504030201000F0Fu, 0x0F0F0F06u};
    case 1:
      return {0x0201004737271707u, 0x7F7F6757u};
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

// ---- Which kind ----

// How many codes of each sort the values of a chunk would have.
struct Counts {
  std::uint32_t outer[kKinds];  // 0 in fixed kinds
  std::uint32_t raw[kKinds];
};

THINWIRE_HOST_DEVICE constexpr bool is_allowed(std::uint64_t mode, unsigned kind) {
  const bool is_entropy = (kind & kEntropyBit) != 0;
  if (mode == static_cast<std::uint64_t>(Mode::kFixed)) return !is_entropy;
  return mode != static_cast<std::uint64_t>(Mode::kEntropy) || is_entropy;
}

THINWIRE_HOST_DEVICE constexpr unsigned best_kind(const Counts& counts, std::uint32_t values,
                                                  std::uint64_t mode) {
  unsigned best = 0;
  std::uint32_t fewest = ~0u;
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    const std::uint32_t bits = ((kind & kEntropyBit) != 0 ? 2 : 3) * values +
                               3 * counts.outer[kind] + 8 * counts.raw[kind];
    if (is_allowed(mode, kind) && bits < fewest) {
      fewest = bits;
      best = kind;
    }
  }
  return best;
}

}  // namespace thinwire::codec::expack
