// A chunk as frames have it (spec/frame.md): 8192 values, of which four warps have 8 rows each. The
// chunk table has a row of 8 bytes with the payload's size and checksum; payloads follow one
// another at multiples of 8.
//
//   offset   bytes   what
//        0       8   four ends of 16 bits: raw exponents up to each warp's last one
//        8      32   bases, a byte a row
//       40    8192   sign and mantissa, a byte a value: bits 0 to 6, then the sign
//     8232    3072   codes: three runs of 32 words of 64 bits a warp, the lane's word `at` of the
//                    three being words 2 at and 2 at + 1 of the six of its rows (format.h)
//    11304       y   raw exponents, warp by warp and lane by lane, then zeros up to a multiple of 8
//
// Word 5 + lane + 32 * slot of a payload is the lane's in planes and codes, so a checksum needs
// four keys a lane.
#pragma once

#include <cstdint>

#include "format.h"

namespace roof::framed {

inline constexpr int kWarps = 4, kRows = 8;
inline constexpr std::uint32_t kValues = 8192;
inline constexpr std::uint32_t kBases = 8, kPlane = 40;
inline constexpr std::uint32_t kCodes = kPlane + kValues;
inline constexpr std::uint32_t kRaws = kCodes + kValues / 8 * 3;
inline constexpr std::uint32_t kMostRaw = 2 * kValues - kRaws - 8;  // with more the chunk is raw
inline constexpr std::uint32_t kFrameHeader = 56;

// Words and slots of 32 words before the parts.
inline constexpr std::uint32_t kPlaneWord = kPlane / 8, kCodesWord = kCodes / 8;
inline constexpr std::uint32_t kRawsWord = kRaws / 8;
inline constexpr std::uint32_t kCodesSlot = 32, kRawsSlot = 44;

__host__ __device__ constexpr std::uint32_t size_of(std::uint32_t raws) {
  return kRaws + (raws + 7) / 8 * 8;
}
__host__ __device__ constexpr std::uint64_t body(std::uint64_t chunks) {
  return kFrameHeader + 8 * chunks;
}

// ---- Checksums, as spec/frame.md has them ----

__host__ __device__ constexpr std::uint64_t key_of(std::uint32_t word) {
  return (word % 128 + 1) * 0x9E3779B97F4A7C15u;
}
__host__ __device__ constexpr std::uint64_t weight_of(std::uint32_t word) {
  return 2 * (word / 128) + 1;
}
__host__ __device__ constexpr std::uint64_t product(std::uint64_t word, std::uint64_t key) {
  const std::uint64_t mixed = word ^ key;
  return std::uint64_t{static_cast<std::uint32_t>(mixed)} * static_cast<std::uint32_t>(mixed >> 32);
}
__host__ __device__ constexpr std::uint32_t finish(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(z ^ z >> 31);
}

}  // namespace roof::framed
