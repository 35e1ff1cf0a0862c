// Words of 64 bits of the payload of a whole chunk of bf16 in fixed kinds: which of them are a
// lane's, and its part of their checksum; spec/codec-expack.md, spec/frame.md.
#pragma once

#include "codec/expack/fixed_rows.cuh"

namespace thinwire::codec::expack {

// Displacements of the parts, in words. Only raw exponents have others after them that depend on
// the values.
inline constexpr Parts kFixedParts = FixedPayload<Dtype::kBf16>::kParts;
inline constexpr std::uint32_t kBasesWord = FixedPayload<Dtype::kBf16>::kBasesWord;
inline constexpr std::uint32_t kPlaneWord = FixedPayload<Dtype::kBf16>::kFirstWord;
inline constexpr std::uint32_t kInnerWord = kFixedParts.inner / 8;
inline constexpr std::uint32_t kOuterWord = kFixedParts.outer / 8;
inline constexpr std::uint32_t kRawWord = FixedPayload<Dtype::kBf16>::kRawWord;

// With more raw exponents the payload would not be shorter than the chunk.
inline constexpr std::uint32_t kMostRaw = kChunkBytes - kFixedParts.raw - 8;
static_assert(parts_of<Dtype::kBf16>(whole_extent(kStretches * kWholeRows), kWholeValues, kMostRaw)
                  .end == kChunkBytes - 8);

// A lane's words, but for raw exponents. It has those of its groups in the plane and in the outer
// codes. The inner codes of four lanes make up a word of each row, of which each of the four has
// two: those of `inner_row()` and of the row that is two further.
struct LaneWords {
  std::uint64_t planes[kWholeRows];
  std::uint64_t inner[2];
  std::uint64_t outer;
  std::uint64_t bases;  // of the stretch

  __device__ static std::uint32_t inner_row(unsigned lane) { return (lane & 2) * 2 + (lane & 1); }

  // Displacements of words in the payload.
  __device__ static std::uint32_t plane_at(unsigned warp, unsigned lane) {
    return kPlaneWord + warp * kWholeRows * kRowGroups + lane;
  }
  __device__ static std::uint32_t inner_at(unsigned warp, unsigned lane) {
    return kInnerWord + (warp * kWholeRows + inner_row(lane)) * (kRowGroups / 4) + lane / 4;
  }
  __device__ static std::uint32_t outer_at(unsigned warp, unsigned lane) {
    return kOuterWord + warp * kRowGroups + lane;
  }
  static constexpr std::uint32_t kSecondInner = 2 * (kRowGroups / 4);  // from the first one on
};

__device__ inline std::uint64_t join_words(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

// Hands inner codes, of two rows in each number, on between four lanes.
__device__ inline void exchange_inner(const std::uint32_t (&own)[kWholeRows / 2], unsigned lane,
                                      std::uint64_t (&words)[2]) {
  // Neighbours take the first or the second row of each number.
  const bool is_odd = (lane & 1) != 0, is_late = (lane & 2) != 0;
  const std::uint32_t stay = is_odd ? 0x7632 : 0x5410, go = is_odd ? 0x5410 : 0x7632;
  const std::uint32_t first = is_odd ? 0x1054 : 0x5410, second = is_odd ? 0x3276 : 0x7632;
  std::uint32_t rows[kWholeRows / 2];
#pragma unroll
  for (int at = 0; at < kWholeRows / 2; at += 2) {
    const std::uint32_t kept = __byte_perm(own[at], own[at + 1], stay);
    const std::uint32_t gone = __byte_perm(own[at], own[at + 1], go);
    const std::uint32_t got = __shfl_xor_sync(kAllLanes, gone, 1);
    rows[at] = __byte_perm(kept, got, first);
    rows[at + 1] = __byte_perm(kept, got, second);
  }
  // Then two take the rows 0 to 3, two the others.
#pragma unroll
  for (int at = 0; at < 2; ++at) {
    const std::uint32_t kept = is_late ? rows[at + 2] : rows[at];
    const std::uint32_t gone = is_late ? rows[at] : rows[at + 2];
    const std::uint32_t got = __shfl_xor_sync(kAllLanes, gone, 2);
    words[at] = is_late ? join_words(got, kept) : join_words(kept, got);
  }
}

__device__ inline LaneWords words_of(const FixedCodes& coded, const StretchBases& known,
                                     unsigned lane) {
  LaneWords words;
#pragma unroll
  for (int row = 0; row < kWholeRows; ++row) {
    words.planes[row] = join_words(coded.planes[row].x, coded.planes[row].y);
  }
  exchange_inner(coded.inner, lane, words.inner);
  words.outer = join_words(coded.outer[0], coded.outer[1]);
  words.bases = join_words(known.bases[0], known.bases[1]);
  return words;
}

__device__ inline void put_words(const LaneWords& words, unsigned warp, unsigned lane,
                                 std::uint64_t* payload) {
  std::uint64_t* const plane = payload + LaneWords::plane_at(warp, lane);
#pragma unroll
  for (int row = 0; row < kWholeRows; ++row) plane[row * kRowGroups] = words.planes[row];
  std::uint64_t* const inner = payload + LaneWords::inner_at(warp, lane);
  inner[0] = words.inner[0];
  inner[LaneWords::kSecondInner] = words.inner[1];
  payload[LaneWords::outer_at(warp, lane)] = words.outer;
  if (lane == 0) payload[kBasesWord + warp] = words.bases;
}

// ---- Checksums ----

// Returns the planes' part. The words of four rows make up a block of the checksum, which begins
// kPlaneWord words before them: some of each fourth row's are in the next block.
__device__ inline std::uint64_t sum_of_planes(const LaneWords& words, unsigned warp,
                                              unsigned lane) {
  static_assert(kChecksumLanes == 4 * kRowGroups && kPlaneWord < kRowGroups);
  constexpr std::uint32_t kFourth = kPlaneWord + 3 * kRowGroups;
  const bool is_next = lane >= kChecksumLanes - kFourth;
  std::uint64_t sums[2] = {}, lasts[2];
#pragma unroll
  for (int row = 0; row < 3; ++row) {
    const std::uint64_t key = checksum_key(kPlaneWord + row * kRowGroups + lane);
    sums[0] += checksum_product(words.planes[row], key);
    sums[1] += checksum_product(words.planes[row + 4], key);
  }
  const std::uint64_t key = checksum_key((kFourth + lane) % kChecksumLanes);
  lasts[0] = checksum_product(words.planes[3], key);
  lasts[1] = checksum_product(words.planes[7], key);
  const std::uint64_t late = sums[1] + lasts[1];
  const std::uint64_t next = is_next ? lasts[0] + lasts[1] : 0;
  return checksum_weight(kWholeRows / 4 * warp) * (sums[0] + lasts[0] + late) + 2 * (late + next);
}

// Returns the part of all of a lane's words.
__device__ inline std::uint64_t sum_of_lane(const LaneWords& words, unsigned warp, unsigned lane) {
  const std::uint32_t inner = LaneWords::inner_at(warp, lane);
  std::uint64_t sum = sum_of_planes(words, warp, lane);
  sum += weighted(words.inner[0], inner);
  sum += weighted(words.inner[1], inner + LaneWords::kSecondInner);
  sum += weighted(words.outer, LaneWords::outer_at(warp, lane));
  if (lane == 0) sum += weighted(words.bases, kBasesWord + warp);
  return sum;
}

}  // namespace thinwire::codec::expack
