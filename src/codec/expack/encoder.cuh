// A chunk's exponents to codes, and those to a payload, by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/choices.h"
#include "codec/expack/dictionary.cuh"
#include "codec/expack/mask.cuh"
#include "codec/expack/symbols.cuh"

namespace thinwire::codec::expack {

// Values that the warps of a thread block exchange.
struct EncodeState {
  std::uint32_t codes[kStretches];  // bits of outer codes; in the upper half, raw exponents
  std::uint32_t zeros[kStretches];  // exponents that are 0
  std::uint32_t kept[kStretches];   // values that a mask keeps
  DictionaryState dictionary;
};

// The result of the first pass if a mask or a dictionary may pay, and that of the second pass if
// neither does.
inline constexpr std::uint32_t kMayBeSpecial = ~0u;
inline constexpr std::uint32_t kNotSpecial = ~0u;

// The codes of a lane's groups.
template <int kRows>
struct Coded {
  std::uint32_t outer[kRows] = {};
  // 8 bits for each row: the length of its outer codes, and a flag for each raw exponent.
  std::uint32_t lengths[(kRows + 3) / 4] = {};
  std::uint32_t raw[(kRows + 3) / 4] = {};
};

// Encodes the values of a chunk, or those that its mask keeps; kept values lie in `out` until they
// are loaded.
template <Dtype kDtype, int kRows, bool kMasked>
struct Encoder {
  const cuda::Piece& piece;
  std::uint32_t most;  // the payload is smaller
  Extent extent;
  std::byte* out;
  EncodeState& state;
  unsigned lane;
  Rows rows;

  __device__ void clear(const Parts& parts) const;
  __device__ bool take_rows(const Parts& parts, std::uint32_t (&symbols)[kRows],
                            uint2 (&exponents)[kRows]) const;
  __device__ unsigned take_kind(const std::uint32_t (&symbols)[kRows], bool has_zeros,
                                std::uint64_t mode) const;
  __device__ void code_rows(const std::uint32_t (&symbols)[kRows], const Parts& parts,
                            unsigned kind, Coded<kRows>& coded) const;
  __device__ void put_outer(const Coded<kRows>& coded, std::uint32_t bit, std::byte* to) const;
  __device__ void put_raw(const Coded<kRows>& coded, std::byte* to) const;
  __device__ void put_known_raw(const std::uint32_t (&raw)[(kRows + 3) / 4],
                                const uint2 (&exponents)[kRows], std::byte* to) const;
  __device__ std::uint32_t encode(std::uint64_t mode, bool may_be_special) const;
  __device__ std::uint32_t encode_listed(const uint2 (&exponents)[kRows],
                                         std::uint32_t codes) const;
};

// Zeros where codes are joined to them, and where parts are filled up.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ void Encoder<kDtype, kRows, kMasked>::clear(const Parts& parts) const {
  for (std::uint32_t at = parts.outer / 8 + threadIdx.x; at < most / 8; at += 32 * kStretches) {
    reinterpret_cast<std::uint64_t*>(out)[at] = 0;
  }
  const std::uint32_t padding = filled_up(rows.all) - rows.all;
  if (threadIdx.x < padding) out[parts.bases + rows.all + threadIdx.x] = std::byte{0};
  if constexpr (kMasked && kDtype == Dtype::kE4m3) {
    const std::uint32_t end = parts.plane[0] + extent.verbatim / 2;
    if (threadIdx.x < parts.inner - end) out[end + threadIdx.x] = std::byte{0};
  }
  if constexpr (kMasked && kHasPairs<kDtype>) {
    const std::uint32_t pairs_end = parts.plane[1] + extent.verbatim / 4;
    const std::uint32_t signs_end = parts.plane[2] + extent.verbatim / 8;
    if (threadIdx.x < parts.plane[2] - pairs_end) out[pairs_end + threadIdx.x] = std::byte{0};
    if (threadIdx.x < parts.inner - signs_end) out[signs_end + threadIdx.x] = std::byte{0};
  }
}

// Rows' bases and verbatim planes into the payload, and their symbols; whether exponents of 0 have
// one of their own.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ bool Encoder<kDtype, kRows, kMasked>::take_rows(const Parts& parts,
                                                           std::uint32_t (&symbols)[kRows],
                                                           uint2 (&exponents)[kRows]) const {
  std::uint32_t pairs[kRows][4], sums[kRows];
  {
    Group<kDtype> groups[kRows];
    load_rows<kDtype>(piece, rows, lane, groups);
    if constexpr (kMasked) {
      __syncthreads();
      clear(parts);
    }
#pragma unroll
    for (int at = 0; at < kRows; ++at) {
      take_exponents(groups[at], pairs[at]);
      sums[at] = sum_row(pairs[at]);
      if constexpr (kMasked) exponents[at] = bytes_of(pairs[at]);
      if (at < rows.count) {
        put_verbatim<kDtype, kMasked>(groups[at], parts, rows.first + at, lane,
                                      static_cast<int>(extent.verbatim), out);
      }
    }
  }
  std::uint32_t zeros = 0;
  std::uint32_t bases[kRows];
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at < rows.count) zeros += kRowValues - (sums[at] >> 16);
    bases[at] = base_of<kDtype>(sums[at] & 0xFFFF, kRowValues);
  }
  if (zeros != 0) {
#pragma unroll
    for (int at = 0; at < kRows; ++at) {
      bases[at] = base_of<kDtype>(sums[at] & 0xFFFF, sums[at] >> 16);
    }
  }
  std::uint32_t own_base = 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    symbols[at] = take_symbols(pairs[at], bases[at]);
    if (lane == at) own_base = bases[at];
  }
  if (static_cast<int>(lane) < rows.count) {
    out[parts.bases + rows.first + lane] = static_cast<std::byte>(own_base);
  }
  if (!kMasked && lane == 0) state.zeros[threadIdx.x / 32] = zeros;
  const bool has_zeros = takes_zeros(zeros, rows.count * kRowValues);
  if (has_zeros) {
#pragma unroll
    for (int at = 0; at < kRows; ++at) symbols[at] = with_zeros(pairs[at], symbols[at]);
  }
  return has_zeros;
}

template <Dtype kDtype, int kRows, bool kMasked>
__device__ unsigned Encoder<kDtype, kRows, kMasked>::take_kind(
    const std::uint32_t (&symbols)[kRows], bool has_zeros, std::uint64_t mode) const {
  const unsigned fixed = has_zeros ? kZerosBit : 0;
  if (mode == static_cast<std::uint64_t>(Mode::kFixed)) return fixed;
  if (mode == static_cast<std::uint64_t>(Mode::kEntropy)) return fixed | kEntropyBit;
  std::uint32_t outer = 0, raw = 0;  // nibbles
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
    outer += have_outer(symbols[at], has_zeros);
    raw += are_raw(symbols[at], has_zeros);
  }
  const std::uint32_t both = cuda::sum_of_lanes(sum_nibbles(outer) + (sum_nibbles(raw) << 16));
  const std::uint32_t values = rows.count * kRowValues;
  // Mostly there is no need to know what a fixed kind would have.
  if (takes_entropy(mode, values, both & 0xFFFF, both >> 16, 0)) return fixed | kEntropyBit;
  std::uint32_t raw_if_fixed = 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at < rows.count) raw_if_fixed += are_raw_if_fixed(symbols[at], has_zeros);
  }
  raw_if_fixed = cuda::sum_of_lanes(sum_nibbles(raw_if_fixed));
  const bool is_entropy = takes_entropy(mode, values, both & 0xFFFF, both >> 16, raw_if_fixed);
  return is_entropy ? fixed | kEntropyBit : fixed;
}

// Inner codes into the payload, the others into registers.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ void Encoder<kDtype, kRows, kMasked>::code_rows(const std::uint32_t (&symbols)[kRows],
                                                           const Parts& parts, unsigned kind,
                                                           Coded<kRows>& coded) const {
  const CodeTable table = code_table(kind);
  const bool is_entropy = (kind & kEntropyBit) != 0;
  const std::uint32_t selectors = kept(compacting_selector(lane));
  std::byte* const inner =
      out + parts.inner + 2 * (rows.first * kRowGroups + static_cast<int>(lane));
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
    const uint2 codes = codes_of(symbols[at], table);
    *reinterpret_cast<std::uint16_t*>(inner + at * (kRowValues / 4)) =
        static_cast<std::uint16_t>(join_pairs(codes.x, codes.y));
    std::uint32_t length = kGroupValues;
    coded.outer[at] = is_entropy ? join_outer(codes, selectors, length)
                                 : join_bits<2>(codes.x) | join_bits<2>(codes.y) << 4;
    coded.lengths[at / 4] |= length << (8 * (at % 4));
    coded.raw[at / 4] |= (join_bits<3>(codes.x) | join_bits<3>(codes.y) << 4) << (8 * (at % 4));
  }
}

// Outer codes from bit `bit` of `to` on, which is zeros.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ void Encoder<kDtype, kRows, kMasked>::put_outer(const Coded<kRows>& coded,
                                                           std::uint32_t bit, std::byte* to) const {
  auto* word = reinterpret_cast<std::uint32_t*>(to) + bit / 32;
  std::uint32_t pending = 0;
  bit %= 32;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    pending |= coded.outer[at] << bit;
    const std::uint32_t rest = __funnelshift_l(coded.outer[at], 0, bit);
    bit += coded.lengths[at / 4] >> (8 * (at % 4)) & 0xFF;
    if (bit >= 32) {
      atomicOr(word++, pending);
      pending = rest;
      bit -= 32;
    }
  }
  if (pending != 0) atomicOr(word, pending);
}

// Writes the lane's raw exponents, one after the other; they are read from the array again.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ void Encoder<kDtype, kRows, kMasked>::put_raw(const Coded<kRows>& coded,
                                                         std::byte* to) const {
  using Word = WordOf<kDtype>;
#pragma unroll
  for (int four = 0; four < (kRows + 3) / 4; ++four) {
    for (std::uint32_t left = coded.raw[four]; left != 0; left &= left - 1) {
      const int place = __ffs(static_cast<int>(left)) - 1;
      const int row = rows.first + 4 * four + place / kGroupValues;
      const int within =
          Group<kDtype>::first(place % kGroupValues / Group<kDtype>::kPartValues, lane) +
          place % Group<kDtype>::kPartValues;
      const std::uint32_t number =
          min(row * kRowValues + within, static_cast<int>(piece.values) - 1);
      const auto value = cuda::load_value<Word>(piece.at + number * sizeof(Word));
      *to++ = static_cast<std::byte>(value >> Format<kDtype>::kShift & Format<kDtype>::kLargest);
    }
  }
}

// The same from exponents that are at hand.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ void Encoder<kDtype, kRows, kMasked>::put_known_raw(
    const std::uint32_t (&raw)[(kRows + 3) / 4], const uint2 (&exponents)[kRows],
    std::byte* to) const {
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    std::uint32_t left = raw[at / 4] >> (8 * (at % 4)) & 0xFF;
    for (; left != 0; left &= left - 1) {
      const int place = __ffs(static_cast<int>(left)) - 1;
      *to++ = static_cast<std::byte>(byte_of(exponents[at], place));
    }
  }
}

}  // namespace thinwire::codec::expack
