// A lane's part of four rows: 8 values of each.
#pragma once

#include <cstdint>

#include "device.h"
#include "format.h"

namespace roof {

inline constexpr std::uint32_t kBoth = 0x00010001u;
inline constexpr std::uint32_t kRowBytes = 512;
inline constexpr std::uint32_t kGroupBytes = 4 * kRowBytes;

// Makes other lanes' shared memory known, and keeps the compiler from moving accesses across.
__device__ inline void order_memory() {
  __syncwarp();
#ifdef __CUDACC__
  asm volatile("" ::: "memory");
#endif
}

// The offset, in a warp's memory of four rows, of a value by its number in the order of raw
// exponents.
__device__ inline std::uint32_t offset_of(std::uint32_t number, unsigned lane) {
  return (number >> 2 & 3) * kRowBytes + lane * 16 + (number & 3) * 4 + (number >> 4) * 2;
}

// Which codes are 7, a bit each in the order of raw exponents.
__device__ inline std::uint32_t raw_of(const std::uint32_t (&codes)[3]) {
  std::uint32_t raw = codes[0] & codes[1] & codes[2] & 0x80008000u;
#pragma unroll
  for (int at = 0; at < 3; ++at) {
    raw |= (codes[at] & codes[at] >> 1 & codes[at] >> 2 & 0x12491249u) << at;
  }
  return raw;
}

// ---- Encoding ----

struct Coded {
  uint4 planes[2];  // of two rows each
  std::uint32_t codes[3];
  std::uint32_t raw;    // a bit for each value whose exponent is raw, in their order
  std::uint32_t bases;  // a byte for each row
};

// Signs and mantissas of four values.
__device__ inline std::uint32_t around(std::uint32_t first, std::uint32_t second) {
  return (__byte_perm(first, second, 0x6420) & 0x7F7F7F7Fu) |
         (__byte_perm(first, second, 0x7531) & 0x80808080u);
}

// A row's base, and its symbols: distances times 128, two a word, and one more for all that have no
// code.
template <bool kIsNamed>
__device__ std::uint32_t take_row(const uint4& row, std::uint32_t* symbols) {
  constexpr std::uint32_t kMask = 0x7F80 * kBoth;
  const std::uint32_t pairs[4] = {row.x & kMask, row.y & kMask, row.z & kMask, row.w & kMask};
  std::uint32_t sum = __dp2a_lo(pairs[0] + pairs[1], 0x0101u, 0u);
  sum = __dp2a_lo(pairs[2] + pairs[3], 0x0101u, sum) >> 7;
  const std::uint32_t base = base_of<kIsNamed>(__reduce_add_sync(kAllLanes, sum));
  const std::uint32_t less_base = (0u - (base << 7) & 0xFFFFu) * kBoth;
#pragma unroll
  for (int at = 0; at < 4; ++at) {
    symbols[at] = __viaddmin_u16x2(pairs[at], less_base, (kIsNamed ? 8 : 7) * 128 * kBoth);
  }
  return base;
}

template <bool kIsNamed>
__device__ void join_codes(std::uint32_t (&symbols)[16], Coded& coded) {
  if constexpr (kIsNamed) {
#pragma unroll
    for (int at = 0; at < 16; ++at) {
      coded.raw |= (symbols[at] >> 10 & kBoth) << at;
      symbols[at] &= 7 * 128 * kBoth;
    }
  }
#pragma unroll
  for (int word = 0; word < 3; ++word) {
    const std::uint32_t* const own = symbols + word;
    std::uint32_t codes = (own[0] + own[3] * 8 + own[6] * 64) >> 7;
    codes += own[9] * 4 + own[12] * 32;
    coded.codes[word] = codes | (symbols[15] << (8 - word) & 0x80008000u);
  }
  if constexpr (!kIsNamed) coded.raw = raw_of(coded.codes);
}

template <bool kIsNamed>
__device__ Coded code_group(const uint4 (&rows)[4]) {
  Coded coded{};
  std::uint32_t symbols[16];
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const uint4& in = rows[row];
    coded.bases |= take_row<kIsNamed>(in, symbols + 4 * row) << (8 * row);
    uint4& plane = coded.planes[row / 2];
    (row % 2 == 0 ? plane.x : plane.z) = around(in.x, in.y);
    (row % 2 == 0 ? plane.y : plane.w) = around(in.z, in.w);
  }
  join_codes<kIsNamed>(symbols, coded);
  return coded;
}

// ---- Decoding ----

// The codes of a pair, times 128.
__device__ inline std::uint32_t take_pair(const std::uint32_t (&codes)[3], int pair) {
  if (pair == 15) {
    return (codes[0] >> 8 & 128 * kBoth) | (codes[1] >> 7 & 256 * kBoth) |
           (codes[2] >> 6 & 512 * kBoth);
  }
  const int right = 3 * (pair / 3) - 7;
  const std::uint32_t word = codes[pair % 3];
  return (right < 0 ? word << -right : word >> right) & 7 * 128 * kBoth;
}

// Four rows, but for raw exponents.
__device__ inline void decode_group(const uint4 (&planes)[2], const std::uint32_t (&codes)[3],
                                    std::uint32_t bases, uint4 (&rows)[4]) {
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const std::uint32_t base = (bases >> (8 * row) & 255) * 128 * kBoth;
    const uint4& plane = planes[row / 2];
    const std::uint32_t halves[2] = {row % 2 == 0 ? plane.x : plane.z,
                                     row % 2 == 0 ? plane.y : plane.w};
    std::uint32_t out[4];
#pragma unroll
    for (int at = 0; at < 4; ++at) {
      const std::uint32_t twice = __byte_perm(halves[at / 2], 0, at % 2 == 0 ? 0x1100 : 0x3322);
      out[at] = (twice & 0x807F * kBoth) + take_pair(codes, 4 * row + at) + base;
    }
    rows[row] = uint4{out[0], out[1], out[2], out[3]};
  }
}

__device__ inline void put_exponent(std::uint8_t* at, std::uint32_t exponent) {
  auto* const value = reinterpret_cast<std::uint16_t*>(at);
  *value = static_cast<std::uint16_t>((*value & 0x807F) | exponent << 7);
}

}  // namespace roof
