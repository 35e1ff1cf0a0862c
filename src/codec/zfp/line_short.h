// The plane coder of line_planes.h for blocks of up to 32 bits, all in words of 32: after each of
// the three points where n changes, only as many planes are moved as such a block can hold.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/exponent.h"
#include "codec/zfp/line_bits.h"
#include "codec/zfp/line_tables.h"

namespace thinwire::codec::zfp {

inline constexpr int kMaxShortBits = 32;

THINWIRE_HOST_DEVICE inline std::uint32_t reverse_bits(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __brev(word);
#else
  return static_cast<std::uint32_t>(reverse_bits(std::uint64_t{word}) >> 32);
#endif
}

// Shifts by 0 or more, to nothing from 32 on.
THINWIRE_HOST_DEVICE inline std::uint32_t shift_right(std::uint32_t word, int count) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_rc(word, 0, static_cast<unsigned>(count));
#else
  return count < 32 ? word >> count : 0;
#endif
}
THINWIRE_HOST_DEVICE inline std::uint32_t shift_left(std::uint32_t word, int count) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_lc(0, word, static_cast<unsigned>(count));
#else
  return count < 32 ? word << count : 0;
#endif
}

// The highest `count` bits of `word`, 0 or more.
THINWIRE_HOST_DEVICE inline std::uint32_t highest_bits(std::uint32_t word, int count) {
  return word & ~shift_right(0xffffffff, count);
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t swap_short(std::uint32_t word, std::uint32_t mask,
                                                        int distance) {
  const std::uint32_t differ = (word ^ (word >> distance)) & mask;
  return word ^ differ ^ (differ << distance);
}

// Four bytes to eight nibbles, a nibble for each place in a byte, the highest first; and back.
THINWIRE_HOST_DEVICE constexpr std::uint32_t bytes_to_nibbles(std::uint32_t word) {
  word = swap_short(word, 0x00f000f0, 4);
  word = swap_short(word, 0x0000ff00, 8);
  word = swap_short(word, 0x00cc00cc, 6);
  return swap_short(word, 0x0a0a0a0a, 3);
}
THINWIRE_HOST_DEVICE constexpr std::uint32_t nibbles_to_bytes(std::uint32_t word) {
  word = swap_short(word, 0x0a0a0a0a, 3);
  word = swap_short(word, 0x00cc00cc, 6);
  word = swap_short(word, 0x0000ff00, 8);
  return swap_short(word, 0x00f000f0, 4);
}

// The highest 16 bits to every second one from the highest on; and back.
THINWIRE_HOST_DEVICE constexpr std::uint32_t to_seconds(std::uint32_t word) {
  word >>= 16;
  word = (word | word << 8) & 0x00ff00ff;
  word = (word | word << 4) & 0x0f0f0f0f;
  word = (word | word << 2) & 0x33333333;
  return ((word | word << 1) & 0x55555555) << 1;
}
THINWIRE_HOST_DEVICE constexpr std::uint32_t from_seconds(std::uint32_t word) {
  word = word >> 1 & 0x55555555;
  word = (word | word >> 1) & 0x33333333;
  word = (word | word >> 2) & 0x0f0f0f0f;
  word = (word | word >> 4) & 0x00ff00ff;
  return (word | word >> 8) << 16;
}

// The highest 8 bits to every third one from the highest on; and back.
THINWIRE_HOST_DEVICE constexpr std::uint32_t to_thirds(std::uint32_t word) {
  word >>= 24;
  word = (word | word << 8) & 0x0000f00f;
  word = (word | word << 4) & 0x000c30c3;
  return ((word | word << 2) & 0x00249249) << 10;
}
THINWIRE_HOST_DEVICE constexpr std::uint32_t from_thirds(std::uint32_t word) {
  word = word >> 10 & 0x00249249;
  word = (word | word >> 2) & 0x000c30c3;
  word = (word | word >> 4) & 0x0000f00f;
  return (word | word >> 8) << 24;
}

// The plane stream of a block, as encode_planes(): its first 23 bits, the highest first.
THINWIRE_HOST_DEVICE inline std::uint32_t encode_short(const Tables& tables, const Block& u) {
  const int p = leading_zeros(u.x | u.y | u.z | u.w);
  const int q = leading_zeros(u.y | u.z | u.w);
  const int r = leading_zeros(u.z | u.w);

  // Plane p, where coefficient 0 appears alone, is 1 1 0; then its bit and 0 for each plane.
  const int length1 = p < q ? 2 * (q - p) + 1 : 0;
  const std::uint32_t run1 = to_seconds(shift_left(u.x, p) << 1);
  const std::uint32_t part1 = highest_bits(6u << 29 | run1 >> 3, length1);

  // Plane q, where coefficient 1 appears and the last two do not.
  const std::uint32_t x2 = shift_left(u.x, q);
  const std::uint32_t bits2 = p < q      ? (x2 >> 31) << 31 | 6u << 28
                              : x2 >> 31 ? 30u << 27
                                         : 10u << 28;
  const int code2 = p == q && x2 >> 31 ? 5 : 4;
  const int length2 = q < r ? code2 + 3 * (r - q - 1) : 0;
  const std::uint32_t run2 = to_thirds(x2 << 1) | to_thirds(shift_left(u.y, q) << 1) >> 1;
  const std::uint32_t part2 = highest_bits(bits2 | run2 >> code2, length2);

  // Plane r and all that follow it.
  const std::uint32_t bytes = (shift_left(u.x, r) & 0xff000000) | (shift_left(u.y, r) >> 24) << 16 |
                              (shift_left(u.z, r) >> 24) << 8 | shift_left(u.w, r) >> 24;
  const std::uint32_t rest = bytes_to_nibbles(bytes);
  const PlaneCode code3 = tables.encode[q < r ? 2 : p < q ? 1 : 0][rest >> 28];
  const std::uint32_t part3 = std::uint32_t{code3.bits} << 24 | (rest << 4) >> code3.length;

  const int start2 = p + length1;
  return shift_right(part1, p) | shift_right(part2, start2) | shift_right(part3, start2 + length2);
}

// The result of a positive test for coefficient n after which `read` bits of `budget` have been
// read, the highest bits of `next` first; see decode_found().
THINWIRE_HOST_DEVICE inline std::uint8_t found_short(const Tables& tables, int n, int budget,
                                                     int read, std::uint32_t next) {
  const int left = budget - read;
  return tables.decode[n][left < 0 ? 0 : smaller(left, 6)][next >> 26];
}

// Decodes the coefficients of a stream of `budget` bits, at most 23; all bits after them are 0.
THINWIRE_HOST_DEVICE inline Block decode_short(const Tables& tables, std::uint32_t stream,
                                               int budget) {
  Block u = {};
  if (stream == 0) return u;
  int plane = leading_zeros(stream);
  int at = plane + 1;
  const std::uint8_t first = found_short(tables, 0, budget, at, stream << plane << 1);
  unsigned nibble = first >> 4;
  at += first & 15;
  if (nibble == 8) {  // coefficient 0 alone, up to the test that finds another
    const std::uint32_t run = shift_left(stream, at);
    const std::uint32_t tests = run & 0x55555555;
    const int length = tests != 0 ? leading_zeros(tests) / 2 : 32;  // to the end of the planes
    u.x = 1u << 31 >> plane | shift_right(from_seconds(highest_bits(run, 2 * length)), plane + 1);
    const std::uint32_t next = shift_left(run, 2 * length);
    at += 2 * length + 2;
    const std::uint8_t more = found_short(tables, 1, budget, at, next << 2);
    nibble = next >> 31 << 3 | more >> 4;
    at += more & 15;
    plane += 1 + length;
  }
  if ((nibble & 7) == 4) {  // coefficients 0 and 1
    const std::uint32_t run = shift_left(stream, at);
    const std::uint32_t tests = run & 0x24924924;
    const int length = tests != 0 ? leading_zeros(tests) / 3 : 32;
    const std::uint32_t bits = highest_bits(run, 3 * length);
    u.x |= shift_right((nibble >> 3) << 31 | from_thirds(bits) >> 1, plane);
    u.y = shift_right(1u << 31 | from_thirds(bits << 1) >> 1, plane);
    const std::uint32_t next = shift_left(run, 3 * length);
    at += 3 * length + 3;
    const std::uint8_t more = found_short(tables, 2, budget, at, next << 3);
    nibble = next >> 30 << 2 | more >> 4;
    at += more & 15;
    plane += 1 + length;
  }
  const std::uint32_t bytes = nibbles_to_bytes(nibble << 28 | shift_left(stream, at) >> 4);
  u.x |= shift_right(bytes & 0xff000000, plane);
  u.y |= shift_right(bytes << 8 & 0xff000000, plane);
  u.z = shift_right(bytes << 16 & 0xff000000, plane);
  u.w = shift_right(bytes << 24, plane);
  return u;
}

// The first `block_bits` bits, at most kMaxShortBits, of the block with this header, the first one
// lowest.
THINWIRE_HOST_DEVICE inline std::uint32_t short_bits(const Tables& tables, const Block& u,
                                                     std::uint32_t header, int block_bits) {
  const std::uint32_t stream = reverse_bits(encode_short(tables, u)) << kHeaderBits<float>;
  return (stream | header) & static_cast<std::uint32_t>(low_bits_mask(block_bits));
}

// The coefficients of such a block.
THINWIRE_HOST_DEVICE inline Block short_coefficients(const Tables& tables, std::uint32_t bits,
                                                     int block_bits) {
  if ((bits & 1) == 0) return {};
  return decode_short(tables, reverse_bits(bits >> kHeaderBits<float>),
                      block_bits - kHeaderBits<float>);
}

}  // namespace thinwire::codec::zfp
