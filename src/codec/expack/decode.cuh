// Decoding a chunk by one thread block, whose warps need nothing of each other;
// spec/codec-expack.md.
#pragma once

#include "codec/expack/distances.cuh"

namespace thinwire::codec::expack {

// A stretch as the head has it.
struct Stretch {
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

template <Dtype kDtype, int kRows>
struct Decoder {
  const std::byte* in;
  const cuda::Target& target;
  unsigned lane;
  Rows rows;
  Parts parts;
  Stretch stretch;

  __device__ bool take_head(std::uint32_t bytes);
  __device__ bool take_codes(Found<kRows>& found) const;
  __device__ bool take_raw(Found<kRows>& found) const;
  template <typename Sink>
  __device__ void put(const Found<kRows>& found, const Sink& sink) const;
  template <typename Sink>
  __device__ bool decode(std::uint32_t bytes, const Sink& sink);
};

// False where the payload is not of the size that its head says, or the stretch is not inside.
template <Dtype kDtype, int kRows>
__device__ bool Decoder<kDtype, kRows>::take_head(std::uint32_t bytes) {
  if (bytes < kHeadBytes) return false;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in);
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t before = warp == 0 ? 0 : words[warp - 1];
  const std::uint32_t own = words[warp];
  const std::uint32_t last = words[kStretches - 1];
  stretch = {kind_of(own), outer_end_of(before), outer_end_of(own), raw_end_of(before),
             raw_end_of(own)};
  parts = parts_of<kDtype>(rows.all, outer_end_of(last), raw_end_of(last));
  return parts.end == bytes && stretch.outer_begin <= stretch.outer_end &&
         stretch.outer_end <= outer_end_of(last) && stretch.raw_begin <= stretch.raw_end &&
         stretch.raw_end <= raw_end_of(last);
}

// Exponents, but for raw ones. False where the stretch has other codes than its head says, or a
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
    // The second word may be behind the codes, and is not used then.
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

// Puts raw exponents in their places. False where there are others than the head says.
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

template <Dtype kDtype, int kRows>
template <typename Sink>
__device__ void Decoder<kDtype, kRows>::put(const Found<kRows>& found, const Sink& sink) const {
  constexpr int kBytes = Format<kDtype>::kValueBytes;
  constexpr int kWordValues = 4 / kBytes;
  using Word = WordOf<kDtype>;
  const bool is_simple =
      target.values % kRowValues == 0 && reinterpret_cast<std::uintptr_t>(target.at) % 16 == 0;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) return;
    const int row = rows.first + at;
    const Group<kDtype> group = join_group<kDtype>(in, parts, row, lane, found.exponents[at]);
#pragma unroll
    for (int part = 0; part < Group<kDtype>::kParts; ++part) {
      const std::uint32_t first = row * kRowValues + Group<kDtype>::first(part, lane);
      const uint4 values = group.part[part];
      if (is_simple) {
        sink.put_aligned(target.at + first * kBytes, values);
        continue;
      }
      const std::uint32_t words[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
      for (int value = 0; value < Group<kDtype>::kPartValues; ++value) {
        if (first + value >= target.values) break;
        sink.put(
            target.at + (first + value) * kBytes,
            static_cast<Word>(words[value / kWordValues] >> (8 * kBytes * (value % kWordValues))));
      }
    }
  }
}

template <Dtype kDtype, int kRows>
template <typename Sink>
__device__ bool Decoder<kDtype, kRows>::decode(std::uint32_t bytes, const Sink& sink) {
  Found<kRows> found;
  const bool is_sound = take_head(bytes) && take_codes(found) && take_raw(found);
  if (is_sound) put(found, sink);
  return __syncthreads_and(is_sound) != 0;
}

}  // namespace thinwire::codec::expack
