// The residuals of a tile as numbers in a stream of bits, by its thread; spec/codec-szp.md,
// "Payload".
#pragma once

#include <array>

#include "codec/szp/differences.cuh"

namespace thinwire::codec::szp {

// ---- Codes ----

// Codes as in TileCode, by the largest fold below 256.
struct NarrowCodes {
  std::uint16_t packed[256];
};

constexpr NarrowCodes make_narrow_codes() {
  NarrowCodes codes{};
  for (std::uint32_t most = 0; most < 256; ++most) {
    const std::uint32_t code = narrow_code_of(most);
    codes.packed[most] = static_cast<std::uint16_t>(code | radix_of(code).row_bits << 8);
  }
  return codes;
}

// The table is in memory, not in the constant bank: lanes ask for different entries.
static __device__ const NarrowCodes kNarrowCodes = make_narrow_codes();

struct alignas(16) RadixEntry {
  std::uint32_t radix, row_bits, reciprocal, unused;
};

struct Radices {
  RadixEntry of[kCodes];
};

constexpr Radices make_radices() {
  Radices radices{};
  for (std::uint32_t code = 0; code < kCodes; ++code) {
    const Radix radix = radix_of(code);
    radices.of[code] = {radix.radix, radix.row_bits, radix.reciprocal(), 0};
  }
  return radices;
}

static __device__ const Radices kRadices = make_radices();

// A tile's code in the low byte, and the bits of one of its rows above.
struct TileCode {
  std::uint32_t packed;

  __device__ std::uint32_t code() const { return packed & 0xFF; }
  __device__ std::uint32_t row_bits() const { return packed >> 8; }
};

__device__ inline TileCode code_of(std::uint32_t most) {
  if (most < 256) return {kNarrowCodes.packed[most]};
  const std::uint32_t code = wide_code_of(most);
  return {code | kRadices.of[code].row_bits << 8};
}

// The code of a tile whose residuals lie `shift` above what they are; the box's first value counts
// for nothing.
template <int kNumber>
__device__ inline TileCode code_of(const Tiles& tiles, std::uint32_t shift) {
  constexpr int kFirst = kNumber * kTileRows;
  const bool has_corner = kNumber == 0 && threadIdx.x == 0;
  auto most = static_cast<std::int32_t>(has_corner ? shift : tiles.row[kFirst][0]);
  std::int32_t least = most;
#pragma unroll
  for (int at = 1; at < kTileValues; ++at) {
    const auto value =
        static_cast<std::int32_t>(tiles.row[kFirst + at / kRowValues][at % kRowValues]);
    most = max(most, value);
    least = min(least, value);
  }
  const auto zero = static_cast<std::int32_t>(shift);
  return code_of(max(fold(most - zero), fold(least - zero)));
}

// ---- Writing ----

// Words in shared memory that are zeros, or have other tiles' bits.
struct BitsOut {
  std::uint32_t* word;
  std::uint32_t filled;
  std::uint32_t rest;

  __device__ BitsOut(std::uint32_t* words, std::uint32_t bit)
      : word(words + bit / 32), filled(bit % 32), rest(0) {}

  __device__ void put(std::uint32_t value, std::uint32_t count) {
    rest |= value << filled;
    const std::uint32_t over = __funnelshift_l(value, 0, filled);
    filled += count;
    if (filled < 32) return;
    atomicOr(word++, rest);
    rest = over;
    filled -= 32;
  }
  __device__ void end() {
    if (rest != 0) atomicOr(word, rest);
  }
};

template <int kNumber>
__device__ inline void write_tile(const Tiles& tiles, const TileCode& code, BitsOut out) {
  constexpr int kFirst = kNumber * kTileRows;
  if (code.code() == 0) return;
  const std::uint32_t radix = kRadices.of[code.code()].radix;
  const std::uint32_t bias = Radix{radix, 0}.bias();
  if (code.code() >= kFirstWideCode) {
#pragma unroll
    for (int j = kFirst; j < kFirst + kTileRows; ++j) {
#pragma unroll
      for (int k = 0; k < kRowValues; ++k) {
        out.put(tiles.row[j][k] + bias, code.row_bits() / kRowValues);
      }
    }
  } else {
    // The biases of four digits.
    const std::uint32_t shift = bias * ((radix + 1) * (radix * radix + 1));
#pragma unroll
    for (int j = kFirst; j < kFirst + kTileRows; ++j) {
      std::uint32_t number = tiles.row[j][3];
#pragma unroll
      for (int k = 2; k >= 0; --k) number = number * radix + tiles.row[j][k];
      out.put(number + shift, code.row_bits());
    }
  }
  out.end();
}

// ---- Reading ----

// Bits `bit` to `bit` + `count`, at most 32, of words of which one more may be read.
__device__ inline std::uint32_t read_bits(const std::uint32_t* words, std::uint32_t bit,
                                          std::uint32_t count) {
  const std::uint32_t* const word = words + bit / 32;
  const std::uint32_t value = __funnelshift_r(word[0], word[1], bit);
  return value & (0xFFFFFFFFu >> (32 - count));
}

template <int kNumber>
__device__ inline void read_tile(Tiles& tiles, std::uint32_t code, const RadixEntry& radix,
                                 const std::uint32_t* words, std::uint32_t bit) {
  constexpr int kFirst = kNumber * kTileRows;
  if (code == 0) {
#pragma unroll
    for (int at = 0; at < kTileValues; ++at) {
      tiles.row[kFirst + at / kRowValues][at % kRowValues] = 0;
    }
    return;
  }
  const std::uint32_t bias = Radix{radix.radix, radix.row_bits}.bias();
  if (code >= kFirstWideCode) {
    const std::uint32_t bits = radix.row_bits / kRowValues;
#pragma unroll
    for (int at = 0; at < kTileValues; ++at) {
      tiles.row[kFirst + at / kRowValues][at % kRowValues] = read_bits(words, bit, bits) - bias;
      bit += bits;
    }
    return;
  }
#pragma unroll
  for (int j = kFirst; j < kFirst + kTileRows; ++j) {
    std::uint32_t number = read_bits(words, bit, radix.row_bits);
#pragma unroll
    for (int k = 0; k < kRowValues - 1; ++k) {
      const std::uint32_t rest = __umulhi(number, radix.reciprocal);
      tiles.row[j][k] = number - rest * radix.radix - bias;
      number = rest;
    }
    tiles.row[j][kRowValues - 1] = number - bias;
    bit += radix.row_bits;
  }
}

}  // namespace thinwire::codec::szp
