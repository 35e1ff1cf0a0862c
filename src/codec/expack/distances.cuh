// Codes to distances to exponents, for the group of a lane; spec/codec-expack.md.
#pragma once

#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

// The distances that the codes of a kind stand for, a byte each.
struct DistanceTable {
  std::uint32_t inner;  // by the inner code
  std::uint32_t low;    // by the outer code, or in fixed kinds by the code, 0 to 3
  std::uint32_t high;   // 4 to 7

  __device__ explicit DistanceTable(unsigned kind)
      : inner(inner_distances(kind)),
        low(static_cast<std::uint32_t>(outer_distances(kind))),
        high(static_cast<std::uint32_t>(outer_distances(kind) >> 32)) {}
};

// Two bits each of eight values as nibbles.
__device__ inline std::uint32_t split_codes(std::uint32_t codes) {
  codes = (codes | codes << 8) & 0x00FF00FFu;
  codes = (codes | codes << 4) & 0x0F0F0F0Fu;
  return (codes | codes << 2) & 0x33333333u;
}

// One bit each of eight values as nibbles.
__device__ inline std::uint32_t split_bits(std::uint32_t bits) {
  bits = (bits | bits << 12) & 0x000F000Fu;
  bits = (bits | bits << 6) & 0x03030303u;
  return (bits | bits << 3) & 0x11111111u;
}

// Eight codes of three bits as nibbles; what lies above them is ignored.
__device__ inline std::uint32_t split_threes(std::uint32_t codes) {
  codes = (codes & 0x00000FFFu) | (codes << 4 & 0x0FFF0000u);
  codes = (codes & 0x003F003Fu) | (codes << 2 & 0x3F003F00u);
  return (codes & 0x07070707u) | (codes << 1 & 0x70707070u);
}

__device__ inline uint2 take_fixed(std::uint32_t inner, std::uint32_t outer,
                                   const DistanceTable& table) {
  const std::uint32_t codes = split_codes(inner) | split_bits(outer & 0xFF) << 2;
  return {permute(table.low, table.high, codes), permute(table.low, table.high, codes >> 16)};
}

// Which inner codes of a group have outer ones, a bit each at the lower bit of the inner code.
__device__ inline std::uint32_t has_outer(std::uint32_t inner) {
  return inner & inner >> 1 & 0x5555;
}

// A selector for __byte_perm() that moves the lowest bytes, in order, to those of four values that
// the lane's four lowest bits name, and zeros to the others; above it eight times the number of
// named values.
__device__ inline std::uint32_t spreading_selector(unsigned lane) {
  std::uint32_t selector = 0;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned value = 0; value < 4; ++value) {
    const bool is_named = (lane >> value & 1) != 0;
    selector |= (is_named ? count : 4) << (4 * value);
    count += is_named;
  }
  return selector | 8 * count << 16;
}

// Returns the distances of a group's eight values. `outer` begins with the group's outer codes, one
// after the other; those of other groups may follow.
__device__ inline uint2 take_entropy(std::uint32_t inner, std::uint32_t outer,
                                     std::uint32_t selectors, const DistanceTable& table) {
  std::uint32_t chosen = has_outer(inner);
  chosen = (chosen | chosen >> 1) & 0x3333;
  chosen |= chosen >> 2;
  const std::uint32_t first = __shfl_sync(kAllLanes, selectors, chosen & 0xF);
  const std::uint32_t second = __shfl_sync(kAllLanes, selectors, chosen >> 8 & 0xF);
  const std::uint32_t threes = split_threes(outer);
  const std::uint32_t near = permute(table.low, table.high, threes);
  const std::uint32_t far = permute(table.low, table.high, threes >> 16);
  const std::uint32_t rest = __funnelshift_rc(near, far, first >> 16);
  const std::uint32_t nibbles = split_codes(inner);
  return {permute(table.inner, 0, nibbles) | permute(near, 0, first),
          permute(table.inner, 0, nibbles >> 16) | permute(rest, 0, second)};
}

// Distances to exponents but for raw ones, a byte each.
__device__ inline uint2 add_base(uint2 distances, std::uint32_t base, bool has_zeros) {
  const std::uint32_t bases = base * kByteOnes;
  uint2 exponents = {bases + (distances.x & kDistanceBits * kByteOnes),
                     bases + (distances.y & kDistanceBits * kByteOnes)};
  if (has_zeros) {
    exponents.x &= ~((distances.x >> 6 & kByteOnes) * 0xFF);
    exponents.y &= ~((distances.y >> 6 & kByteOnes) * 0xFF);
  }
  return exponents;
}

// Which exponents are raw, a bit each.
__device__ inline std::uint32_t raw_of(uint2 distances) {
  return join_bits<7>(distances.x) | join_bits<7>(distances.y) << 4;
}

// Puts raw exponents from `next` on into the bytes that `raw` names.
__device__ inline const std::byte* put_raw(const std::byte* next, std::uint32_t raw,
                                           uint2& exponents) {
  for (; raw != 0; raw &= raw - 1) {
    const int place = 8 * (__ffs(static_cast<int>(raw)) - 1);
    const auto exponent = static_cast<std::uint32_t>(*next++);
    if (place < 32) {
      exponents.x = (exponents.x & ~(0xFFu << place)) | exponent << place;
    } else {
      exponents.y = (exponents.y & ~(0xFFu << (place - 32))) | exponent << (place - 32);
    }
  }
  return next;
}

}  // namespace thinwire::codec::expack
