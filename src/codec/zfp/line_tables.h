// The plane coder's codes for single planes, as tables built from their definition.
// See spec/codec-zfp.md, "Planes".
#pragma once

#include <cstdint>

namespace thinwire::codec::zfp {

struct PlaneCode {
  std::uint8_t bits;  // the first one highest
  std::uint8_t length;
};

// Kept apart from the functions so that each build can hold them where its loads are cheapest.
// A nibble is one plane of a block, coefficient 0 in its highest bit.
struct Tables {
  PlaneCode encode[3][16];        // [n][nibble]
  std::uint8_t decode[3][7][64];  // [n][bits of budget, at most 6][next 6 bits]: nibble, length
};

// The code of one plane when n coefficients are significant already.
constexpr PlaneCode encode_plane(int n, unsigned nibble) {
  unsigned bits = 0;
  int length = 0;
  const auto put = [&](unsigned bit) { bits |= (bit & 1) << (7 - length++); };
  for (int i = 0; i < n; ++i) put(nibble >> (3 - i));
  while (n < 4) {
    const bool any = (nibble & (0xfu >> n)) != 0;
    put(any);
    if (!any) break;
    // The last coefficient needs no bit: it must be the one that the test found.
    for (; n < 3; ++n) {
      const unsigned bit = nibble >> (3 - n) & 1;
      put(bit);
      if (bit) break;
    }
    ++n;
  }
  return {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(length)};
}

// The result of a positive group test at coefficient n, when `budget` bits are left: the ones of
// coefficients n to 3 in the high four bits, the number of bits read in the low four. A search that
// the budget ends has found the coefficient that it had come to.
constexpr std::uint8_t decode_found(int n, int budget, unsigned next) {
  unsigned nibble = 0;
  int length = 0;
  const auto get = [&] { return next >> (5 - length++) & 1; };
  while (true) {
    for (; n < 3 && length < budget; ++n) {
      if (get()) break;
    }
    nibble |= 8u >> n;
    ++n;
    if (n == 4 || length == budget || !get()) break;
  }
  return static_cast<std::uint8_t>(nibble << 4 | static_cast<unsigned>(length));
}

constexpr Tables make_tables() {
  Tables tables{};
  for (int n = 0; n < 3; ++n) {
    for (unsigned nibble = 0; nibble < 16; ++nibble) {
      tables.encode[n][nibble] = encode_plane(n, nibble);
    }
    for (int budget = 0; budget < 7; ++budget) {
      for (unsigned next = 0; next < 64; ++next) {
        tables.decode[n][budget][next] = decode_found(n, budget, next);
      }
    }
  }
  return tables;
}

}  // namespace thinwire::codec::zfp
