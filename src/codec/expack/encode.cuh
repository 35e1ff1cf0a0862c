// Encoding a chunk by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/encoder.cuh"

namespace thinwire::codec::expack {

template <Dtype kDtype, int kRows, bool kMasked>
__device__ std::uint32_t Encoder<kDtype, kRows, kMasked>::encode(std::uint64_t mode,
                                                                 bool may_be_special) const {
  // The parts before the raw exponents have the same offsets whatever the codes are.
  const Parts common = parts_of<kDtype>(extent, 0, 0);
  if constexpr (!kMasked) clear(common);

  std::uint32_t symbols[kRows];
  uint2 exponents[kRows];
  const bool has_zeros = take_rows(common, symbols, exponents);
  const unsigned kind = rows.count == 0 ? 0 : take_kind(symbols, has_zeros, mode);
  Coded<kRows> coded;
  code_rows(symbols, common, kind, coded);
  std::uint32_t own = 0;
#pragma unroll
  for (int four = 0; four < (kRows + 3) / 4; ++four) {
    own = __dp4a(coded.lengths[four], kByteOnes, own) + (__popc(coded.raw[four]) << 16);
  }
  const std::uint32_t up_to = cuda::sum_up_to_lane(own);
  const unsigned warp = threadIdx.x / 32;
  if (lane == 31) state.codes[warp] = up_to;
  __syncthreads();

  const Shares codes(state.codes);
  const bool may_be_listed =
      may_have_dictionary(mode, rows.all, codes.all & 0xFFFF, codes.all >> 16);
  if constexpr (kMasked) {
    const std::uint32_t bytes = may_be_listed ? encode_listed(exponents, codes.all) : kNotSpecial;
    if (bytes != kNotSpecial) return bytes;
  } else if (may_be_special) {
    const std::uint32_t zeros = Shares(state.zeros).all;
    if (may_be_listed || takes_mask<kDtype>(zeros, piece.values)) return kMayBeSpecial;
  }
  const Parts parts = parts_of<kDtype>(extent, codes.all & 0xFFFF, codes.all >> 16);
  if (parts.end >= most) return most;
  if (lane == 0) {
    reinterpret_cast<std::uint32_t*>(out)[warp] =
        head_word(kind, codes.end & 0xFFFF, codes.end >> 16) | head_flag(warp, kMasked, false);
  }
  const std::uint32_t begin = codes.before + up_to - own;
  put_outer(coded, begin & 0xFFFF, out + parts.outer);
  if (codes.all >> 16 != 0) {
    std::byte* const to = out + parts.raw + (begin >> 16);
    if constexpr (kMasked) {
      put_known_raw(coded.raw, exponents, to);
    } else {
      put_raw(coded, to);
    }
  }
  __syncthreads();
  return parts.end;
}

// Encodes with a dictionary, in place of the codes that take what `codes` says.
template <Dtype kDtype, int kRows, bool kMasked>
__device__ std::uint32_t Encoder<kDtype, kRows, kMasked>::encode_listed(
    const uint2 (&exponents)[kRows], std::uint32_t codes) const {
  DictionaryState& known = state.dictionary;
  know_exponents(exponents, rows, lane, known);
  const DictionarySize size =
      dictionary_size(rows.all, codes & 0xFFFF, codes >> 16,
                      [&](std::uint32_t places) { return known.sums[places]; });
  if (size.width == kWidths) return kNotSpecial;
  const Parts parts = dictionary_parts_of<kDtype>(extent, size.width, size.raw_exponents);
  if (parts.end >= most) return most;

  const std::uint32_t places = 1u << size.width;
  const bool has_raw = size.raw_exponents != 0;
  // Marked by the highest bit of a byte.
  put_dictionary(min(known.size, places - (has_raw ? 1 : 0)), 0x80 | (places - 1),
                 out + parts.inner, known);
  std::uint32_t raw[(kRows + 3) / 4] = {};
  std::uint32_t own = 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
    uint2 found = {0, 0};
#pragma unroll
    for (int value = 0; value < kGroupValues; ++value) {
      const std::uint32_t place = known.counts[byte_of(exponents[at], value)];
      (value < 4 ? found.x : found.y) |= place << (8 * (value % 4));
    }
    put_places(found, size.width,
               out + parts.outer + ((rows.first + at) * kRowGroups + lane) * size.width);
    const std::uint32_t its = join_bits<7>(found.x) | join_bits<7>(found.y) << 4;
    raw[at / 4] |= its << (8 * (at % 4));
    own += __popc(its);
  }
  const std::uint32_t up_to = cuda::sum_up_to_lane(own);
  const unsigned warp = threadIdx.x / 32;
  if (lane == 31) state.codes[warp] = up_to;
  if (has_raw && threadIdx.x == 0) *reinterpret_cast<std::uint64_t*>(out + parts.end - 8) = 0;
  __syncthreads();
  const Shares shares(state.codes);
  if (lane == 0) {
    reinterpret_cast<std::uint32_t*>(out)[warp] =
        head_word(0, size.width, shares.end) | head_flag(warp, kMasked, true);
  }
  put_known_raw(raw, exponents, out + parts.raw + shares.before + up_to - own);
  __syncthreads();
  return parts.end;
}

// The payload of a chunk of zeros alone. For whole thread blocks; has a barrier.
__device__ inline std::uint32_t put_only_zeros(std::uint32_t most, std::byte* out) {
  if (kHeadBytes >= most) return most;
  if (threadIdx.x < kStretches) {
    reinterpret_cast<std::uint32_t*>(out)[threadIdx.x] = threadIdx.x == 0 ? kHeadFlag : 0;
  }
  __syncthreads();
  return kHeadBytes;
}

// Encodes with a mask or a dictionary, if one pays, a chunk that was encoded to kMayBeSpecial.
template <Dtype kDtype, int kRows>
__device__ std::uint32_t encode_specially(const std::byte* at, std::uint32_t values, std::byte* out,
                                          std::uint64_t mode, EncodeState& state) {
  // Numbers that nothing is made of ahead of time: what is usual needs the registers.
  const unsigned lane = kept(threadIdx.x % 32);
  values = kept(values);
  const Rows rows(values);
  const auto all = static_cast<std::uint32_t>(rows.all);
  cuda::Piece piece;
  piece.at = at;
  piece.values = values;
  const std::uint32_t most = values * Format<kDtype>::kValueBytes;
  const std::uint32_t codes = Shares(state.codes).all;
  if (takes_mask<kDtype>(Shares(state.zeros).all, values)) {
    const std::uint32_t left = leave_zeros_out<kDtype, kRows>(piece, rows, lane, out, state.kept);
    // Others are subnormals, or zeros with a sign.
    if (takes_mask<kDtype>(values - left, values)) {
      if (left == 0) return put_only_zeros(most, out);
      piece.at = out + kHeadBytes + all * kRowGroups;
      piece.values = left;
      const Encoder<kDtype, kRows, true> masked{
          piece, most, masked_extent(left, all), out, state, lane, Rows(left)};
      return masked.encode(mode, false);
    }
  }
  if (!may_have_dictionary(mode, all, codes & 0xFFFF, codes >> 16)) return kNotSpecial;
  uint2 exponents[kRows];
  {
    Group<kDtype> groups[kRows];
    load_rows<kDtype>(piece, rows, lane, groups);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      std::uint32_t pairs[4];
      take_exponents(groups[row], pairs);
      exponents[row] = bytes_of(pairs);
    }
  }
  const Encoder<kDtype, kRows, false> plain{piece, most, whole_extent(all), out, state, lane, rows};
  return plain.encode_listed(exponents, codes);
}

// A chunk of values into its payload at `out`; returns its size, no less than the chunk's if it
// is not smaller. `is_special` if the caller has found that a mask may pay, and has said in `state`
// how many exponents are 0.
template <Dtype kDtype, int kRows>
__device__ std::uint32_t encode_piece(const cuda::Piece& piece, std::byte* out, std::uint64_t mode,
                                      EncodeState& state, bool is_special = false) {
  const Rows rows(piece.values);
  const Extent extent = whole_extent(static_cast<std::uint32_t>(rows.all));
  bool may_be_special = true;
#pragma unroll 1
  for (;;) {
    std::uint32_t bytes = kMayBeSpecial;
    if (!is_special) {
      const Encoder<kDtype, kRows, false> plain{piece, piece.bytes,      extent, out,
                                                state, threadIdx.x % 32, rows};
      bytes = plain.encode(mode, may_be_special);
      if (__builtin_expect(bytes != kMayBeSpecial, true)) return bytes;
    }
    is_special = false;
    bytes = encode_specially<kDtype, kRows>(piece.at, piece.values, out, mode, state);
    if (bytes != kNotSpecial) return bytes;
    may_be_special = false;
  }
}

}  // namespace thinwire::codec::expack
