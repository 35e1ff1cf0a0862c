// Streams of a few bits by tables built from the definition of a block of four's planes. See
// spec/codec-zfp.md, "Planes".
#pragma once

#include <cstdint>

#include "codec/zfp/bits.h"
#include "codec/zfp/line_tables.h"

namespace thinwire::codec::zfp {

inline constexpr int kMaxShortStream = 8;  // bits

// The highest eight planes of each stream of 1 to kMaxShortStream bits, a byte for each
// coefficient, the first one's highest. A stream of so few bits has no other planes.
struct ShortPlanes {
  std::uint32_t entry[2 << kMaxShortStream];

  // The streams of `budget` bits, the first bit lowest.
  constexpr const std::uint32_t* of(int budget) const { return entry + (1 << budget); }
};

constexpr std::uint32_t short_planes(int budget, unsigned stream) {
  std::uint32_t bytes = 0;
  int at = 0;
  int n = 0;
  int plane = 0;
  const auto get = [&] { return (stream >> at++ & 1) != 0; };
  while (at < budget) {
    const auto set = [&](int i) { bytes |= 0x80000000u >> (8 * i + plane); };
    for (int i = 0; i < n && at < budget; ++i) {
      if (get()) set(i);
    }
    while (n < 4 && at < budget && get()) {
      while (n < 3 && at < budget && !get()) ++n;
      set(n++);
    }
    ++plane;
  }
  return bytes;
}

constexpr ShortPlanes make_short_planes() {
  ShortPlanes table{};
  for (int budget = 1; budget <= kMaxShortStream; ++budget) {
    for (unsigned stream = 0; stream < 1u << budget; ++stream) {
      table.entry[(1u << budget) + stream] = short_planes(budget, stream);
    }
  }
  return table;
}

// ---- Encoding: two planes a step ----

// The code of two planes after n coefficients are known; 3 stands for more, too: after three, a
// test is the fourth's bit. The code is in the low 16 bits, its first bit lowest; its length from
// bit 16 on; the new n from bit 24 on.
struct PairCodes {
  std::uint32_t entry[4][256];
};

inline constexpr int kMaxPairStream = 20;  // bits, for which 16 planes are enough

constexpr std::uint32_t pair_code(int n, unsigned planes) {
  std::uint32_t code = 0;
  int at = 0;
  for (const unsigned nibble : {planes >> 4, planes & 15}) {
    const PlaneCode plane =
        n < 3 ? encode_plane(n, nibble) : PlaneCode{static_cast<std::uint8_t>(nibble << 4), 4};
    for (int i = 0; i < plane.length; ++i) code |= (plane.bits >> (7 - i) & 1u) << at++;
    for (int i = 0; i < 4; ++i) {
      if ((nibble >> (3 - i) & 1) != 0 && i >= n) n = i + 1;
    }
  }
  return code | static_cast<std::uint32_t>(at) << 16 |
         static_cast<std::uint32_t>(n < 3 ? n : 3) << 24;
}

// Makes the table by two planes as Planes has them: if `is_first_highest`, the first coefficient of
// the first plane is the highest bit, else the lowest.
constexpr PairCodes make_pair_codes(bool is_first_highest) {
  PairCodes table{};
  for (int n = 0; n < 4; ++n) {
    for (unsigned planes = 0; planes < 256; ++planes) {
      unsigned reversed = 0;
      for (int i = 0; i < 8; ++i) reversed |= (planes >> i & 1) << (7 - i);
      table.entry[n][planes] = pair_code(n, is_first_highest ? planes : reversed);
    }
  }
  return table;
}

// The stream, its first bit lowest, `budget` bits of it and perhaps more. `planes` has the 16
// highest planes, of which one of the first six has ones, as Planes has them.
inline std::uint64_t pair_stream(const PairCodes& table, std::uint64_t planes, int budget) {
  int at = leading_zeros(planes | 1) / 4;
  planes <<= 4 * at;
  std::uint64_t stream = 0;
  unsigned n = 0;
  do {
    const std::uint32_t step = table.entry[n][planes >> 56];
    planes <<= 8;
    stream |= std::uint64_t{step & 0xffff} << at;
    at += static_cast<int>(step >> 16 & 0xff);
    n = step >> 24;
  } while (at < budget);
  return stream;
}

}  // namespace thinwire::codec::zfp
