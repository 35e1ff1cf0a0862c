// A stretch of a whole chunk of bf16 to codes of the fixed kinds, by one warp that keeps them in
// registers; spec/codec-expack.md. A lane has, in each of the stretch's rows, the group with its
// number.
#pragma once

#include "codec/expack/choices.h"
#include "codec/expack/fixed_payload.cuh"
#include "codec/expack/symbols.cuh"

namespace thinwire::codec::expack {

inline constexpr int kWholeRows = FixedPayload<Dtype::kBf16>::kRows;  // of a stretch
inline constexpr std::uint32_t kStretchValues = kWholeRows * kRowValues;
inline constexpr std::uint32_t kWholeValues = FixedPayload<Dtype::kBf16>::kValues;

// The distances that the code 0 of kind 0 and the code 1 of kind 2 stand for; later codes stand for
// the next ones, up to the code for raw exponents.
inline constexpr std::uint32_t kFirstDistance = 2;
inline constexpr std::uint32_t kFirstDistanceWithZeros = 3;
inline constexpr std::uint32_t kRawCode = 7;

// Whether that is what the table of codes says.
constexpr bool are_fixed_codes(unsigned kind, unsigned first, unsigned first_code) {
  const CodeTable table = code_table(kind);
  for (unsigned symbol = 0; symbol <= kFarSymbol; ++symbol) {
    const std::uint64_t code = (symbol < 8 ? table.low : table.high) >> (8 * (symbol % 8)) & 0xFF;
    const unsigned wanted = symbol - first + first_code;
    const bool is_raw = symbol < first || wanted >= kRawCode;
    if (code != (is_raw ? kRawCode | kRawFlag : wanted)) return false;
  }
  return true;
}
static_assert(are_fixed_codes(0, kFirstDistance, 0));
static_assert(are_fixed_codes(kZerosBit, kFirstDistanceWithZeros, 1));

// Loads a lane's group of a row of the stretch; `groups` is that of the first row, in shared
// memory.
__device__ inline Group<Dtype::kBf16> staged_group(const uint4* groups, int row) {
  return {{groups[row * kRowGroups]}};
}

// ---- Bases ----

// The bases of a stretch's rows, a byte each, and how many exponents are 0. The same in all lanes.
struct StretchBases {
  std::uint32_t bases[kWholeRows / 4];
  std::uint32_t zeros;
};

// The bases of a stretch in which some exponents are 0.
__device__ inline StretchBases bases_beside_zeros(const uint4* groups) {
  StretchBases known{};
#pragma unroll 1
  for (int row = kWholeRows - 1; row >= 0; --row) {
    std::uint32_t pairs[4];
    take_exponents(staged_group(groups, row), pairs);
    const std::uint32_t sum = sum_row(pairs);
    known.zeros += kRowValues - (sum >> 16);
    known.bases[1] = __funnelshift_l(known.bases[0], known.bases[1], 8);
    known.bases[0] = known.bases[0] << 8 | base_of<Dtype::kBf16>(sum & 0xFFFF, sum >> 16);
  }
  return known;
}

__device__ inline StretchBases find_bases(const uint4* groups) {
  StretchBases known{};
  std::uint32_t least = ~0u;
#pragma unroll
  for (int row = 0; row < kWholeRows; row += 2) {
    std::uint32_t sums[2];
#pragma unroll
    for (int at = 0; at < 2; ++at) {
      std::uint32_t pairs[4];
      take_exponents(staged_group(groups, row + at), pairs);
      sums[at] = __dp2a_lo(pairs[0] + pairs[1], 0x0101u, 0u);
      sums[at] = __dp2a_lo(pairs[2] + pairs[3], 0x0101u, sums[at]);
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) least = __vminu2(least, pairs[pair]);
    }
    // The sums of two rows have room in one word.
    const std::uint32_t both = cuda::sum_of_lanes(sums[1] * (0x10000u / kScale) + sums[0] / kScale);
    const std::uint32_t bases = base_of<Dtype::kBf16>(both & 0xFFFF, kRowValues) |
                                base_of<Dtype::kBf16>(both >> 16, kRowValues) << 8;
    known.bases[row / 4] |= bases << (8 * (row % 4));
  }
  const bool has_zero = (least & 0xFFFF) == 0 || least >> 16 == 0;
  if (__any_sync(kAllLanes, has_zero)) return bases_beside_zeros(groups);
  return known;
}

// ---- Codes ----

// A lane's part of a stretch.
struct FixedCodes {
  uint2 planes[kWholeRows];
  std::uint32_t inner[kWholeRows / 2];  // 16 bits a row
  std::uint32_t outer[kWholeRows / 4];  // 8 bits a row
  std::uint32_t raw[kWholeRows / 4];    // likewise, a bit for each raw exponent

  __device__ std::uint32_t raws() const { return __popc(raw[0]) + __popc(raw[1]); }
};

// The codes of a group: nibbles of the values 0, 2, 4, 6, 1, 3, 5, 7.
template <bool kHasZeros>
__device__ std::uint32_t fixed_codes(const std::uint32_t (&pairs)[4], std::uint32_t base) {
  constexpr std::uint32_t kFirst = kHasZeros ? kFirstDistanceWithZeros : kFirstDistance;
  constexpr std::uint32_t kMost = kRawCode - (kHasZeros ? 1 : 0);
  // Pairs of 2^16 less what is subtracted.
  const std::uint32_t less = ((0x10000u - kScale * kFirst) - kScale * base) * kBothOnes;
  std::uint32_t codes[4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    codes[pair] = __viaddmin_u16x2(pairs[pair], less, kScale * kMost * kBothOnes);
    if constexpr (kHasZeros) {
      const std::uint32_t present = __vminu2(pairs[pair], kScale * kBothOnes);
      codes[pair] = (codes[pair] + kScale * kBothOnes) & present * kRawCode;
    }
  }
  const std::uint32_t low = codes[0] + codes[1] * 16;
  const std::uint32_t high = codes[2] + codes[3] * 16;
  return high * 2 + low / kScale;
}

// Signs and mantissas of a group.
__device__ inline uint2 plane_of(const Group<Dtype::kBf16>& group) {
  const uint4& in = group.part[0];
  return {join_around(__byte_perm(in.x, in.y, 0x6420), __byte_perm(in.x, in.y, 0x7531)),
          join_around(__byte_perm(in.z, in.w, 0x6420), __byte_perm(in.z, in.w, 0x7531))};
}

// The inner codes in nibbles of such an order, as the lowest 16 bits.
__device__ inline std::uint32_t join_inner(std::uint32_t codes) {
  return (codes & 0x3333u) | (codes >> 14 & 0xCCCCu);
}

// Four rows of a bit for each value, a byte a row, from nibbles in the order of codes, in which the
// bit `bit_of_row(row)` is that of a row. The position of a bit is a number of five digits, and two
// of them change places in each step.
__device__ inline std::uint32_t bytes_of_rows(std::uint32_t nibbles) {
  std::uint32_t turned = (nibbles >> 15 ^ nibbles) & 0x0000AAAAu;
  nibbles ^= turned ^ turned << 15;
  turned = (nibbles >> 6 ^ nibbles) & 0x00CC00CCu;
  nibbles ^= turned ^ turned << 6;
  turned = (nibbles >> 2 ^ nibbles) & 0x0C0C0C0Cu;
  return nibbles ^ turned ^ turned << 2;
}

constexpr int bit_of_row(int row) { return row % 2 * 2 + row / 2; }

// Four rows from `groups` on, of which `bases` are the bases.
template <bool kHasZeros>
__device__ void code_four(const uint4* groups, std::uint32_t bases, uint2* planes,
                          std::uint32_t* inner, std::uint32_t& outer, std::uint32_t& raw) {
  std::uint32_t inners[4];
  std::uint32_t outers = 0, raws = 0;  // nibbles
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const Group<Dtype::kBf16> group = staged_group(groups, row);
    std::uint32_t pairs[4];
    take_exponents(group, pairs);
    const std::uint32_t codes = fixed_codes<kHasZeros>(pairs, bases >> (8 * row) & 0xFF);
    inners[row] = join_inner(codes);
    const int bit = bit_of_row(row);
    outers |= (bit < 3 ? codes >> (2 - bit) : codes << 1) & kNibbleOnes << bit;
    // One more than the code for raw exponents has a bit that no other code has then.
    raws |= (codes + kNibbleOnes) >> (3 - bit) & kNibbleOnes << bit;
    planes[row] = plane_of(group);
  }
  inner[0] = __byte_perm(inners[0], inners[1], 0x5410);
  inner[1] = __byte_perm(inners[2], inners[3], 0x5410);
  outer = bytes_of_rows(outers);
  raw = raws == 0 ? 0 : bytes_of_rows(raws);
}

template <bool kHasZeros>
__device__ void code_stretch(const uint4* groups, const StretchBases& known, FixedCodes& coded) {
#pragma unroll
  for (int four = 0; four < kWholeRows / 4; ++four) {
    code_four<kHasZeros>(groups + 4 * four * kRowGroups, known.bases[four], coded.planes + 4 * four,
                         coded.inner + 2 * four, coded.outer[four], coded.raw[four]);
  }
}

}  // namespace thinwire::codec::expack
