// The part of a plane after its verbatim bits, several coefficients at a time: tables built from
// the definition. See spec/codec-zfp.md, "Planes".
//
// After a positive group test a plane's bits follow unchanged, with a test after each 1: a one if
// more ones follow, a zero after the last. The last coefficient of a block has no bit and no test:
// a search that gets there has found it.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::zfp {

// Bits that one step of the encoder takes.
inline constexpr int kExpandBits = 8;

// The code of kExpandBits bits of a plane, the lowest first, by their value: the code in the low 16
// bits, its length from bit 24 on. In the first half more ones follow; in the second the highest
// one is the plane's last.
struct alignas(16) ExpandTable {
  std::uint32_t entry[2 << kExpandBits];
};

constexpr std::uint32_t expand_bits(unsigned bits, bool is_last) {
  std::uint32_t code = 0;
  std::uint32_t length = 0;
  for (int at = 0; at < kExpandBits; ++at) {
    if (is_last && bits >> at == 0) break;
    const bool is_one = (bits >> at & 1) != 0;
    const bool more = !is_last || bits >> at > 1;
    code |= std::uint32_t{is_one} << length++;
    if (is_one) code |= std::uint32_t{more} << length++;
  }
  return code | length << 24;
}

constexpr ExpandTable make_expand_table() {
  ExpandTable table{};
  for (unsigned bits = 0; bits < 1u << kExpandBits; ++bits) {
    table.entry[bits] = expand_bits(bits, false);
    table.entry[(1u << kExpandBits) + bits] = expand_bits(bits, true);
  }
  return table;
}

// Bits of code that one step of the decoder looks at.
inline constexpr int kSearchBits = 7;

// The result of a search `left` coefficients before the block's last one, at most kSearchBits + 1,
// by the next bits of code:
//   bits 0 to 7     ones of coefficients from there on
//   bits 8 to 11    coefficients passed
//   bit 12          the plane ends
//   bits 13 to 15   bits read
struct alignas(16) SearchTable {
  std::uint16_t entry[kSearchBits + 2][1 << kSearchBits];
};

inline constexpr std::uint32_t kSearchEnds = 0x1000;

THINWIRE_HOST_DEVICE constexpr std::uint32_t search_ones(std::uint32_t entry) {
  return entry & 0xff;
}
THINWIRE_HOST_DEVICE constexpr int search_passed(std::uint32_t entry) {
  return static_cast<int>(entry >> 8 & 15);
}
THINWIRE_HOST_DEVICE constexpr int search_read(std::uint32_t entry) {
  return static_cast<int>(entry >> 13);
}

constexpr std::uint32_t search_bits(int left, unsigned code) {
  std::uint32_t ones = 0;
  std::uint32_t passed = 0;
  std::uint32_t read = 0;
  const auto entry = [&] { return ones | passed << 8 | read << 13; };
  // A one whose test is not among the bits is left to the next step.
  while (passed < static_cast<std::uint32_t>(left)) {
    if (read == kSearchBits) return entry();
    if ((code >> read & 1) == 0) {
      ++passed;
      ++read;
      continue;
    }
    if (read + 1 == kSearchBits) return entry();
    ones |= 1u << passed++;
    read += 2;
    if ((code >> (read - 1) & 1) == 0) return entry() | kSearchEnds;
  }
  // With `left` at its most, no bits can get as far as this.
  ones |= 1u << passed++;
  return entry() | kSearchEnds;
}

constexpr SearchTable make_search_table() {
  SearchTable table{};
  for (int left = 0; left < kSearchBits + 2; ++left) {
    for (unsigned code = 0; code < 1u << kSearchBits; ++code) {
      table.entry[left][code] = static_cast<std::uint16_t>(search_bits(left, code));
    }
  }
  return table;
}

}  // namespace thinwire::codec::zfp
