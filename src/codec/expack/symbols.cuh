// Exponents to symbols to codes, for the group of a lane; spec/codec-expack.md.
#pragma once

#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

// The sum of a row's exponents and, in the upper half, how many are not 0.
__device__ inline std::uint32_t sum_row(const std::uint32_t (&pairs)[4]) {
  std::uint32_t sum = 0, present = 0;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    sum = __dp2a_lo(pairs[pair], 0x0101u, sum);
    present += __vminu2(pairs[pair], kScale * kBothOnes);
  }
  const std::uint32_t count = __dp2a_lo(present, 0x0101u, 0u);
  return cuda::sum_of_lanes(count * (0x10000u / kScale) + sum / kScale);
}

// The symbols of a group in a kind without zeros: nibbles of the values 0, 2, 4, 6, 1, 3, 5, 7.
__device__ inline std::uint32_t take_symbols(const std::uint32_t (&pairs)[4], std::uint32_t base) {
  const std::uint32_t less_base = (0u - kScale * base & 0xFFFF) * kBothOnes;
  std::uint32_t symbols[4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    symbols[pair] = __viaddmin_u16x2(pairs[pair], less_base, kScale * kFarSymbol * kBothOnes);
  }
  const std::uint32_t low = symbols[0] + symbols[1] * 16;
  const std::uint32_t high = symbols[2] + symbols[3] * 16;
  return high * 2 + low / kScale;
}

// The same in a kind with zeros.
__device__ inline std::uint32_t with_zeros(const std::uint32_t (&pairs)[4], std::uint32_t symbols) {
  std::uint32_t is_zero[4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    is_zero[pair] = kBothOnes - __vminu2(pairs[pair], kScale * kBothOnes) / kScale;
  }
  const std::uint32_t zeros =
      is_zero[0] + (is_zero[1] << 4) + (is_zero[2] << 8) + (is_zero[3] << 12);
  return (symbols & ~(15 * zeros)) | kZeroSymbol * zeros;
}

// ---- Counting ----

// Which symbols of a group have outer codes in an entropy kind, the lowest bit of a nibble each.
__device__ inline std::uint32_t have_outer(std::uint32_t symbols, bool has_zeros) {
  const std::uint32_t a = symbols, b = symbols >> 1, c = symbols >> 2, d = symbols >> 3;
  const std::uint32_t inner = has_zeros ? (c & (a ^ b)) | (a & b & d)  // 5, 6, 11
                                        : c & (a | b);                 // 5, 6, 7
  return ~inner & kNibbleOnes;
}

// Which have raw exponents in an entropy kind.
__device__ inline std::uint32_t are_raw(std::uint32_t symbols, bool has_zeros) {
  const std::uint32_t a = symbols, b = symbols >> 1, c = symbols >> 2, d = symbols >> 3;
  const std::uint32_t raw = has_zeros ? (d & b & ~a) | ~(a | b | c | d)  // 0, 10
                                      : b & d;                           // 10
  return raw & kNibbleOnes;
}

// Which have raw exponents in a fixed kind.
__device__ inline std::uint32_t are_raw_if_fixed(std::uint32_t symbols, bool has_zeros) {
  const std::uint32_t a = symbols, b = symbols >> 1, c = symbols >> 2, d = symbols >> 3;
  const std::uint32_t raw = has_zeros ? (~(c | d) & ~(a & b)) | (d & (a ^ b))  // 0, 1, 2, 9, 10
                                      : ~(b | c | d) | (d & (a | b));          // 0, 1, 9, 10
  return raw & kNibbleOnes;
}

// The sum of eight nibbles.
__device__ inline std::uint32_t sum_nibbles(std::uint32_t nibbles) {
  return __dp4a((nibbles & 0x0F0F0F0Fu) + (nibbles >> 4 & 0x0F0F0F0Fu), kByteOnes, 0u);
}

// ---- Codes ----

// The codes of a group, a byte a value.
__device__ inline uint2 codes_of(std::uint32_t symbols, const CodeTable& table) {
  const auto low = static_cast<std::uint32_t>(table.low);
  const auto high = static_cast<std::uint32_t>(table.low >> 32);
  const auto above = static_cast<std::uint32_t>(table.high);
  // A selector's highest bit asks for the sign of the byte that it selects: no code has one, so
  // that symbols above 7 select nothing in the first table, and the others nothing in the second.
  const std::uint32_t turned = symbols ^ 8 * kNibbleOnes;
  const std::uint32_t even = permute(low, high, symbols) | permute(above, 0, turned);
  const std::uint32_t odd = permute(low, high, symbols >> 16) | permute(above, 0, turned >> 16);
  return {__byte_perm(even, odd, 0x5140), __byte_perm(even, odd, 0x7362)};
}

// A selector for __byte_perm() that moves, of four bytes, those that the lane's four lowest bits
// name to the lowest ones, in order, and zeros after them; above it three times their number.
__device__ inline std::uint32_t compacting_selector(unsigned lane) {
  std::uint32_t selector = 0x4444;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned byte = 0; byte < 4; ++byte) {
    if ((lane >> byte & 1) == 0) continue;
    selector ^= (4 ^ byte) << (4 * count);
    ++count;
  }
  return selector | 3 * count << 16;
}

// Joins the outer codes of four values, one after the other.
__device__ inline std::uint32_t join_four(std::uint32_t codes, std::uint32_t selector) {
  std::uint32_t outer = permute(codes >> 4 & 7 * kByteOnes, 0, selector);
  outer = (outer | outer >> 5) & 0x003F003Fu;
  return (outer | outer >> 10) & 0xFFFu;
}

// Joins those of a group, and counts their bits.
__device__ inline std::uint32_t join_outer(uint2 codes, std::uint32_t selectors,
                                           std::uint32_t& length) {
  const std::uint32_t first = __shfl_sync(kAllLanes, selectors, join_bits<2>(codes.x));
  const std::uint32_t second = __shfl_sync(kAllLanes, selectors, join_bits<2>(codes.y));
  length = (first >> 16) + (second >> 16);
  return join_four(codes.x, first) | join_four(codes.y, second) << (first >> 16);
}

}  // namespace thinwire::codec::expack
