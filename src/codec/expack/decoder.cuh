// A payload's codes to exponents, by one thread block, whose warps need nothing of each other;
// spec/codec-expack.md.
#pragma once

#include "codec/expack/dictionary.cuh"
#include "codec/expack/distances.cuh"
#include "codec/expack/mask.cuh"

namespace thinwire::codec::expack {

// A stretch as the head has it.
struct Stretch {
  bool is_listed;  // the chunk has a dictionary
  unsigned kind;
  std::uint32_t outer_begin;  // bits
  std::uint32_t outer_end;
  std::uint32_t raw_begin;
  std::uint32_t raw_end;
};

// A lane's groups.
template <int kRows>
struct Found {
  uint2 exponents[kRows];
  std::uint32_t raw[kRows];  // which of them are raw, a bit each
};

// Decodes the values of a chunk, or those that its mask keeps.
template <Dtype kDtype, int kRows>
struct Decoder {
  const std::byte* in;
  unsigned lane;
  Rows rows;
  Parts parts;
  Stretch stretch;

  __device__ bool take_head(std::uint32_t bytes, const Extent& extent);
  __device__ bool take_codes(Found<kRows>& found) const;
  __device__ bool take_listed(Found<kRows>& found) const;
  __device__ bool take_raw(Found<kRows>& found) const;
  __device__ bool take(std::uint32_t bytes, const Extent& extent, Found<kRows>& found);
  __device__ Group<kDtype> join(const Found<kRows>& found, int at) const;
  __device__ void complete(Found<kRows>& found) const;
};

// False if the payload is not of the size that its head says, or the stretch is not inside.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take_head(std::uint32_t bytes, const Extent& extent) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in);
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t before = warp == 0 ? 0 : words[warp - 1];
  const std::uint32_t own = words[warp];
  const std::uint32_t last = words[kStretches - 1];
  if (((words[kStretches - 2] | last) & kHeadFlag) != 0) return false;
  const bool is_listed = (words[1] & kHeadFlag) != 0;
  stretch = {is_listed,         kind_of(own),       outer_end_of(before),
             outer_end_of(own), raw_end_of(before), raw_end_of(own)};
  if (stretch.raw_begin > stretch.raw_end || stretch.raw_end > raw_end_of(last)) return false;
  const std::uint32_t outer_end = outer_end_of(last);
  if (is_listed) {
    if (outer_end >= kWidths || stretch.outer_end != outer_end || stretch.kind != 0) return false;
    parts = dictionary_parts_of<kDtype>(extent, outer_end, raw_end_of(last));
    return parts.end == bytes;
  }
  parts = parts_of<kDtype>(extent, outer_end, raw_end_of(last));
  return parts.end == bytes && stretch.outer_begin <= stretch.outer_end &&
         stretch.outer_end <= outer_end;
}

// Exponents, but for raw ones. False if the stretch has other codes than its head says, or a
// base that is too large.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take_codes(Found<kRows>& found) const {
  const bool is_entropy = (stretch.kind & kEntropyBit) != 0;
  const std::byte* const at_inner =
      in + parts.inner + 2 * (rows.first * kRowGroups + static_cast<int>(lane));
  std::uint32_t inner[kRows];
  std::uint32_t own = 0;  // bits of outer codes
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    inner[at] = 0;
    if (at >= rows.count) continue;
    inner[at] = *reinterpret_cast<const std::uint16_t*>(at_inner + at * (kRowValues / 4));
    own += is_entropy ? 3 * __popc(has_outer(inner[at])) : kGroupValues;
  }
  const std::uint32_t up_to = cuda::sum_up_to_lane(own);
  const std::uint32_t all = __shfl_sync(kAllLanes, up_to, 31);
  if (stretch.outer_begin + all != stretch.outer_end) return false;

  const DistanceTable table(stretch.kind);
  const bool has_zeros = (stretch.kind & kZerosBit) != 0;
  const std::uint32_t selectors = kept(spreading_selector(lane));
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in + parts.outer);
  std::uint32_t bit = stretch.outer_begin + up_to - own;
  std::uint32_t largest_base = 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    found.raw[at] = 0;
    found.exponents[at] = {0, 0};
    if (at >= rows.count) continue;
    // The second word may lie past the codes, and is not used then.
    const std::uint32_t outer = __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
    const auto base = static_cast<std::uint32_t>(in[parts.bases + rows.first + at]);
    largest_base = max(largest_base, base);
    uint2 distances;
    if (is_entropy) {
      bit += 3 * __popc(has_outer(inner[at]));
      distances = take_entropy(inner[at], outer, selectors, table);
    } else {
      bit += kGroupValues;
      distances = take_fixed(inner[at], outer, table);
    }
    found.exponents[at] = add_base(distances, base, has_zeros);
    found.raw[at] = raw_of(distances);
  }
  return largest_base <= kLargestBase<kDtype>;
}

// The same with a dictionary; all places are inside.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take_listed(Found<kRows>& found) const {
  const unsigned width = stretch.outer_end;
  const std::uint32_t all_raw =
      raw_end_of(reinterpret_cast<const std::uint32_t*>(in)[kStretches - 1]);
  const std::uint32_t raw_place = all_raw != 0 ? (1u << width) - 1 : kDictionarySize;
  const std::byte* const dictionary = in + parts.inner;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    found.raw[at] = 0;
    found.exponents[at] = {0, 0};
    if (at >= rows.count) continue;
    const int group = (rows.first + at) * kRowGroups + static_cast<int>(lane);
    const uint2 places = take_places(in + parts.outer + group * width, width);
#pragma unroll
    for (int value = 0; value < kGroupValues; ++value) {
      const std::uint32_t place = byte_of(places, value);
      const auto exponent = static_cast<std::uint32_t>(dictionary[place]);
      (value < 4 ? found.exponents[at].x : found.exponents[at].y) |= exponent << (8 * (value % 4));
      found.raw[at] |= (place == raw_place ? 1u : 0u) << value;
    }
  }
  return true;
}

// Puts raw exponents in their places. False if there are others than the head says.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take_raw(Found<kRows>& found) const {
  std::uint32_t own = 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) own += __popc(found.raw[at]);
  const std::uint32_t up_to = cuda::sum_up_to_lane(own);
  const std::uint32_t all = __shfl_sync(kAllLanes, up_to, 31);
  if (stretch.raw_begin + all != stretch.raw_end) return false;
  if (own == 0) return true;
  const std::byte* next = in + parts.raw + stretch.raw_begin + up_to - own;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    next = put_raw(next, found.raw[at], found.exponents[at]);
  }
  return true;
}

// False if the payload's parts disagree.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take(std::uint32_t bytes, const Extent& extent,
                                             Found<kRows>& found) {
  if (!take_head(bytes, extent)) return false;
  const bool is_sound = stretch.is_listed ? take_listed(found) : take_codes(found);
  return is_sound && take_raw(found);
}

template <Dtype kDtype, int kRows>
__device__ Group<kDtype> Decoder<kDtype, kRows>::join(const Found<kRows>& found, int at) const {
  return join_group<kDtype>(in, parts, rows.first + at, lane, found.exponents[at]);
}

// Exponents to the bytes that a mask's values are completed by: of 8-bit types the values, of fp16
// the upper halves, else the exponents.
template <Dtype kDtype, int kRows>
__device__ void Decoder<kDtype, kRows>::complete(Found<kRows>& found) const {
  if constexpr (kDtype == Dtype::kF16 || Format<kDtype>::kValueBytes == 1) {
#pragma unroll
    for (int at = 0; at < kRows; ++at) {
      if (at >= rows.count) break;
      const int row = rows.first + at;
      if constexpr (kDtype == Dtype::kF16) {
        found.exponents[at] = highs_of_f16(in, parts, row, lane, found.exponents[at]);
      } else {
        found.exponents[at] = bytes_with<kDtype>(in, parts, row, lane, found.exponents[at]);
      }
    }
  }
}

}  // namespace thinwire::codec::expack
