// The parts of a payload; spec/codec-szp.md, "Payload". Host and device code; it defines bytes.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::szp {

inline constexpr int kBoxValues = 4096;
inline constexpr int kLineEdge = 4096;
inline constexpr int kPlaneEdge = 64;
inline constexpr int kVolumeEdge = 16;
inline constexpr int kMaxRank = 3;

THINWIRE_HOST_DEVICE constexpr int box_edge(int rank) {
  return rank == 1 ? kLineEdge : rank == 2 ? kPlaneEdge : kVolumeEdge;
}

inline constexpr int kTileRows = 4;
inline constexpr int kRowValues = 4;
inline constexpr int kTileValues = kTileRows * kRowValues;
inline constexpr int kTiles = kBoxValues / kTileValues;
inline constexpr int kGroupTiles = 32;
inline constexpr int kGroups = kTiles / kGroupTiles;
inline constexpr int kMostCodeBits = 5;

// ---- The head ----

struct Head {
  std::uint32_t groups;     // bit g: the group has codes
  std::uint32_t code_bits;  // P
  bool is_differenced;
  bool has_patches;
  bool is_constant;

  THINWIRE_HOST_DEVICE constexpr std::uint32_t word() const {
    return groups | code_bits << 8 | std::uint32_t{is_differenced} << 11 |
           std::uint32_t{has_patches} << 12 | std::uint32_t{is_constant} << 13;
  }
};

// `is_sound` is false if no encoder writes such a word.
THINWIRE_HOST_DEVICE constexpr Head read_head(std::uint32_t word, bool& is_sound) {
  const Head head{word & 0xFF, word >> 8 & 7, (word >> 11 & 1) != 0, (word >> 12 & 1) != 0,
                  (word >> 13 & 1) != 0};
  is_sound =
      head.code_bits <= kMostCodeBits && word >> 14 == 0 && (!head.is_constant || word == 1u << 13);
  return head;
}

// ---- Codes ----

inline constexpr int kCodes = 32;

// From this code on digits are whole bits, and four of them more than a word.
inline constexpr int kFirstWideCode = 22;

// The radix of a code's digits, and the bits of a row of four. A radix of 2^32 is 0 here.
struct Radix {
  std::uint32_t radix;
  std::uint32_t row_bits;

  // The number added to a residual so that its digit is not negative.
  THINWIRE_HOST_DEVICE constexpr std::uint32_t bias() const {
    return radix == 0 ? 0x80000000u : radix / 2;
  }

  // For divide(); radices from 2 on.
  THINWIRE_HOST_DEVICE constexpr std::uint32_t reciprocal() const {
    return radix < 2 ? 0 : 0xFFFFFFFFu / radix + 1;
  }
};

THINWIRE_HOST_DEVICE constexpr Radix radix_of(std::uint32_t code) {
  constexpr Radix kTable[kCodes] = {{1, 0},         {2, 4},         {3, 7},          {4, 8},
                                    {5, 10},        {6, 11},        {8, 12},         {9, 13},
                                    {11, 14},       {13, 15},       {16, 16},        {19, 17},
                                    {22, 18},       {26, 19},       {32, 20},        {38, 21},
                                    {45, 22},       {53, 23},       {64, 24},        {90, 26},
                                    {1u << 7, 28},  {1u << 8, 32},  {1u << 9, 36},   {1u << 10, 40},
                                    {1u << 11, 44}, {1u << 12, 48}, {1u << 14, 56},  {1u << 16, 64},
                                    {1u << 18, 72}, {1u << 21, 84}, {1u << 25, 100}, {0, 128}};
  return kTable[code];
}

// `number` / radix, for the number of a row of a code below kFirstWideCode.
THINWIRE_HOST_DEVICE constexpr std::uint32_t divide(std::uint32_t number,
                                                    std::uint32_t reciprocal) {
  return static_cast<std::uint32_t>(std::uint64_t{number} * reciprocal >> 32);
}

// 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4, ...: a code holds what is below its radix.
THINWIRE_HOST_DEVICE constexpr std::uint32_t fold(std::int32_t residual) {
  const auto bits = static_cast<std::uint32_t>(residual);
  return bits << 1 ^ (residual < 0 ? 0xFFFFFFFFu : 0u);
}

// Bits that it takes to write `value`.
THINWIRE_HOST_DEVICE constexpr std::uint32_t bit_width(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return 32 - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#else
  return value == 0 ? 0 : 32 - static_cast<std::uint32_t>(__builtin_clz(value));
#endif
}

// The code for residuals whose largest fold is `most`, from 256 on.
THINWIRE_HOST_DEVICE constexpr std::uint32_t wide_code_of(std::uint32_t most) {
  // For 9 bits and more, a nibble each, from kFirstWideCode on.
  const std::uint32_t bits = bit_width(most) - 9;
  const std::uint64_t nibbles = bits < 16 ? 0x8887776655443210u : 0x99999998u;
  return kFirstWideCode + static_cast<std::uint32_t>(nibbles >> (bits % 16 * 4) & 15);
}

// The same below 256; slow.
constexpr std::uint32_t narrow_code_of(std::uint32_t most) {
  std::uint32_t code = 0;
  while (radix_of(code).radix <= most) ++code;
  return code;
}

}  // namespace thinwire::codec::szp
