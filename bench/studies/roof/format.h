// Formats of bf16 chunks whose parts have places that nobody has to add up, but for raw exponents.
//
// A value's sign and mantissa are a byte of a plane. Its exponent is a distance from the base of
// its row of 256 values, in a code of three bits; the code 7 says that the exponent is among the
// raw ones, a byte each, with which the chunk ends.
//
// A lane has 8 values of each row, as 4 pairs. The 16 pairs of 4 rows are three words of codes:
// pair i below 15 is in word i % 3 at bits 3 * (i / 3) of both halves, and pair 15 has bit 15 of
// both halves of each word. Raw exponents come lane by lane, first values of pairs before second
// ones.
#pragma once

#include <cstdint>

namespace roof {

enum class Parts {
  kTogether,  // those of a chunk follow one another
  kApart,     // codes and planes of all chunks, then all raw exponents
};

enum class Raw {
  kInOrder,  // a code says which exponents are raw
  kNamed,    // eight codes; a raw exponent is three bytes, the first two of which name its value
};

// A warp has kRows rows, a chunk kWarps warps. A thread block has kBlockWarps warps: those of a
// chunk, or chunks of one warp each. The table of chunks has their ends if kEnds, else their sizes.
// A step of the look-back is kStep chunks a lane.
template <int kRowsOf, int kWarpsOf, int kBlockWarpsOf, Parts kPartsOf, int kStepOf = 1,
          bool kEndsOf = true, Raw kRawOf = Raw::kInOrder>
struct Format {
  static constexpr int kRows = kRowsOf;
  static constexpr int kWarps = kWarpsOf;
  static constexpr int kBlockWarps = kBlockWarpsOf;
  static constexpr int kStep = kStepOf;
  static constexpr bool kIsApart = kPartsOf == Parts::kApart;
  static constexpr bool kIsAlone = kWarps == 1;  // a chunk is a warp's
  static constexpr bool kEnds = kEndsOf;
  static constexpr bool kIsNamed = kRawOf == Raw::kNamed;
  static constexpr int kGroups = kRows / 4;
  static constexpr std::uint32_t kWarpValues = 256 * kRows;
  static constexpr std::uint32_t kChunkValues = kWarpValues * kWarps;
  static constexpr std::uint32_t kBlockValues = kWarpValues * kBlockWarps;
  static constexpr std::uint32_t kFixedBytes = kWarpValues + kWarpValues / 8 * 3;  // of a warp
  // A warp's bases, and where its raw exponents end.
  static constexpr std::uint32_t kHeadBytes = kRows == 4 ? 8 : 16;
  static constexpr std::uint32_t kChunkHeadBytes = (kHeadBytes * kWarps + 31) / 32 * 32;
  static constexpr std::uint32_t kRawBytes = kIsNamed ? 3 : 1;
  static constexpr std::uint32_t kUnit = kIsApart ? 1 : 32;  // of the table

  __host__ __device__ static constexpr std::uint64_t filled_up(std::uint64_t bytes) {
    return (bytes + 127) / 128 * 128;
  }

  // Offsets in a frame: of what follows the table; of planes and codes, and of raw exponents, if
  // parts are apart.
  __host__ __device__ static constexpr std::uint64_t body(std::uint64_t chunks) {
    return filled_up(4 * chunks);
  }
  __host__ __device__ static constexpr std::uint64_t fixed(std::uint64_t chunks) {
    return body(chunks) + filled_up(chunks * kWarps * kHeadBytes);
  }
  __host__ __device__ static constexpr std::uint64_t raw(std::uint64_t chunks) {
    return fixed(chunks) + chunks * kWarps * kFixedBytes;
  }

  // Bytes of a chunk with so many raw exponents, if its parts are together; and its units.
  __host__ __device__ static constexpr std::uint32_t used(std::uint32_t raws) {
    return kChunkHeadBytes + kWarps * kFixedBytes + raws * kRawBytes;
  }
  __host__ __device__ static constexpr std::uint32_t size_of(std::uint32_t raws) {
    return kIsApart ? raws * kRawBytes : (used(raws) + kUnit - 1) / kUnit;
  }
  __host__ __device__ static constexpr std::uint64_t frame_bytes(std::uint64_t chunks,
                                                                 std::uint64_t units) {
    return kIsApart ? raw(chunks) + units : body(chunks) + units * kUnit;
  }
};

// The base of a row whose exponents add up to `sum`.
template <bool kIsNamed>
__host__ __device__ constexpr std::uint32_t base_of(std::uint32_t sum) {
  constexpr std::uint32_t kBelow = kIsNamed ? 4 : 3;
  const std::uint32_t mean = (sum + (kIsNamed ? 64 : 0)) / 256;
  const std::uint32_t base = mean < kBelow ? 0 : mean - kBelow;
  return base < 248 ? base : 248;
}

}  // namespace roof
