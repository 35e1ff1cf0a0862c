// ZFP's arithmetic for one block of four fp32 values: everything that defines bytes apart from the
// plane coder (planes.h). Host and device code; no containers, no allocation. See
// spec/codec-zfp.md.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::zfp {

__extension__ typedef unsigned __int128 Uint128;

inline constexpr int kBlockValues = 4;
inline constexpr int kPlanes = 32;
inline constexpr int kHeaderBits = 9;  // one bit for "not empty" and eight of exponent
inline constexpr int kMinBlockBits = kHeaderBits;
inline constexpr int kMaxBlockBits = 128;
inline constexpr std::uint64_t kChunkValues = 16384;  // 4096 blocks: whole words at every rate

inline constexpr std::int32_t kInfinityBits = 0x7f800000;

// 2^-98. Below it the scale of a block would overflow fp32, so such a block is coded empty.
inline constexpr std::int32_t kSmallestCodedBits = 29 << 23;

// ---- Sizes ----

// Bytes of `values` values at `block_bits` bits a block: whole 64-bit words.
THINWIRE_HOST_DEVICE constexpr std::uint64_t encoded_bytes(std::uint64_t values, int block_bits) {
  const std::uint64_t blocks = values / kBlockValues + (values % kBlockValues != 0);
  return (blocks * static_cast<std::uint64_t>(block_bits) + 63) / 64 * 8;
}

// ---- Bits ----

THINWIRE_HOST_DEVICE constexpr std::uint64_t low_bits_mask(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// The number of zeros above the highest one; 64 for 0.
THINWIRE_HOST_DEVICE inline int leading_zeros(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(word));
#else
  return std::countl_zero(word);
#endif
}

// As above on 32 bits; the form spares a test for zero where there is no instruction that has one.
THINWIRE_HOST_DEVICE inline int leading_zeros(std::uint32_t word) {
  return leading_zeros((std::uint64_t{word} << 1) | 1) - 31;
}

THINWIRE_HOST_DEVICE inline std::uint64_t reverse_bits(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __brevll(word);
#else
  word = ((word >> 1) & 0x5555555555555555) | ((word & 0x5555555555555555) << 1);
  word = ((word >> 2) & 0x3333333333333333) | ((word & 0x3333333333333333) << 2);
  word = ((word >> 4) & 0x0f0f0f0f0f0f0f0f) | ((word & 0x0f0f0f0f0f0f0f0f) << 4);
  return __builtin_bswap64(word);
#endif
}

// ---- The common exponent of a block ----

// Here and below the builtin, because std::bit_cast is a host function to a CUDA compiler.

// The bits of |value|, which compare as magnitudes do: NaN above infinity above the rest. Signed,
// as vector units compare signed words more readily.
THINWIRE_HOST_DEVICE constexpr std::int32_t magnitude_bits(float value) {
  return __builtin_bit_cast(std::int32_t, value) & 0x7fffffff;
}

// The nine header bits of a block whose largest magnitude is `largest`, finite; 0 when empty.
THINWIRE_HOST_DEVICE constexpr std::int32_t block_header(std::int32_t largest) {
  return largest >= kSmallestCodedBits ? ((largest >> 23) + 1) * 2 + 1 : 0;
}

// What values of such a block are multiplied by to become integers below 2^30; 0 when empty.
THINWIRE_HOST_DEVICE constexpr float forward_scale(std::int32_t largest) {
  const std::int32_t exponent = 283 - (largest >> 23);
  return __builtin_bit_cast(float, largest >= kSmallestCodedBits ? exponent << 23 : 0);
}

// What integers of a block with this header are multiplied by: 2^(e - 157), subnormal or 0 where
// fp32 ends. An empty block has no integers but zeros, so its scale does not matter.
THINWIRE_HOST_DEVICE constexpr float inverse_scale(std::uint32_t header) {
  const std::uint32_t exponent = (header >> 1) & 0xff;
  const std::uint32_t normal = (exponent - 30) << 23;
  const std::uint32_t subnormal = exponent >= 8 ? 1u << ((exponent - 8) & 31) : 0;
  return __builtin_bit_cast(float, exponent > 30 ? normal : subnormal);
}

// ---- The transform: unsigned words that stand for two's complement, so that nothing overflows
// ----

struct Block {
  std::uint32_t x, y, z, w;
};

THINWIRE_HOST_DEVICE constexpr std::uint32_t halve(std::uint32_t value) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 1);
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t quantise(float value, float scale) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value * scale));
}

THINWIRE_HOST_DEVICE constexpr float restore(std::uint32_t value, float scale) {
  return static_cast<float>(static_cast<std::int32_t>(value)) * scale;
}

// (a, b) becomes (their mean rounded down, half their difference).
THINWIRE_HOST_DEVICE constexpr void split(std::uint32_t& a, std::uint32_t& b) {
  a = halve(a + b);
  b -= a;
}

// Undoes split() up to the bit that it dropped.
THINWIRE_HOST_DEVICE constexpr void join(std::uint32_t& a, std::uint32_t& b) {
  b += a;
  a = 2 * a - b;
}

THINWIRE_HOST_DEVICE constexpr Block forward_transform(Block block) {
  auto& [x, y, z, w] = block;
  split(x, w);
  split(z, y);
  split(x, z);
  split(w, y);
  w += halve(y);
  y -= halve(w);
  return block;
}

THINWIRE_HOST_DEVICE constexpr Block inverse_transform(Block block) {
  auto& [x, y, z, w] = block;
  y += halve(w);
  w -= halve(y);
  join(w, y);
  join(x, z);
  join(z, y);
  join(x, w);
  return block;
}

// Negabinary (base -2) has no sign bit: small numbers of either sign have zeros in all high planes.
inline constexpr std::uint32_t kNegabinaryMask = 0xaaaaaaaa;

THINWIRE_HOST_DEVICE constexpr std::uint32_t to_negabinary(std::uint32_t value) {
  return (value + kNegabinaryMask) ^ kNegabinaryMask;
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t from_negabinary(std::uint32_t value) {
  return (value ^ kNegabinaryMask) - kNegabinaryMask;
}

}  // namespace thinwire::codec::zfp
