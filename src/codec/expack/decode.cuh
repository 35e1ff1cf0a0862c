// Decoding a chunk by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/decoder.cuh"

namespace thinwire::codec::expack {

// The memory that a lane's values go to.
template <Dtype kDtype>
struct Destination {
  std::byte* at;
  std::uint32_t values;
  unsigned lane;
  // Whether there are whole rows only, all of them at multiples of 16.
  bool is_simple = values % kRowValues == 0 && reinterpret_cast<std::uintptr_t>(at) % 16 == 0;

  template <typename Sink>
  __device__ void put(const Group<kDtype>& group, int row, const Sink& sink) const;
};

template <Dtype kDtype>
template <typename Sink>
__device__ void Destination<kDtype>::put(const Group<kDtype>& group, int row,
                                         const Sink& sink) const {
  constexpr int kBytes = Format<kDtype>::kValueBytes;
  constexpr int kWordValues = 4 / kBytes;
  using Word = WordOf<kDtype>;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    const std::uint32_t first = row * kRowValues + Group<kDtype>::first(part, lane);
    const auto own = group.part[part];
    if (is_simple) {
      sink.put_aligned(at + first * kBytes, own);
      continue;
    }
    std::uint32_t words[Group<kDtype>::kWords];
    take_words(own, words);
#pragma unroll
    for (int value = 0; value < Group<kDtype>::kPartValues; ++value) {
      if (first + value >= values) break;
      sink.put(
          at + (first + value) * kBytes,
          static_cast<Word>(words[value / kWordValues] >> (8 * kBytes * (value % kWordValues))));
    }
  }
}

// The mask of a lane's group in a row, as the payload has it.
__device__ inline std::uint32_t mask_of(const std::byte* payload, int row, unsigned lane) {
  return static_cast<std::uint32_t>(
      payload[kHeadBytes + row * kRowGroups + static_cast<int>(lane)]);
}

// Returns the offset in the payload at which put_completing() may write after the codes have been
// read: over parts that nobody reads any more. Values of 8 bits are complete with these bytes
// alone, and lie right after the mask.
template <Dtype kDtype>
__device__ std::uint32_t completing_at(const Parts& parts) {
  if constexpr (Format<kDtype>::kValueBytes == 1) return parts.bases;
  return kDtype == Dtype::kF16 ? parts.plane[1] : parts.inner;
}

// Writes these bytes, of the first `kept` values.
template <Dtype kDtype, int kRows>
__device__ void put_completing(const uint2 (&bytes)[kRows], const Rows& rows, int kept,
                               unsigned lane, std::byte* out) {
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
#pragma unroll
    for (int part = 0; part < Group<kDtype>::kParts; ++part) {
      const int first = (rows.first + at) * kRowValues + Group<kDtype>::first(part, lane);
      if (first >= kept) break;
      if constexpr (kDtype == Dtype::kF32) {
        *reinterpret_cast<std::uint32_t*>(out + first) = part == 0 ? bytes[at].x : bytes[at].y;
      } else {
        *reinterpret_cast<uint2*>(out + first) = bytes[at];
      }
    }
  }
}

// One of the values that a mask keeps, by its number.
template <Dtype kDtype>
__device__ std::uint32_t kept_value(const std::byte* payload, const Parts& parts,
                                    std::uint32_t number) {
  const auto byte = static_cast<std::uint32_t>(payload[completing_at<kDtype>(parts) + number]);
  const auto byte_of_plane = [&](int plane) {
    return static_cast<std::uint32_t>(payload[parts.plane[plane] + number]);
  };
  if constexpr (Format<kDtype>::kValueBytes == 1) {
    return byte;
  } else if constexpr (kDtype == Dtype::kF16) {
    return byte << 8 | byte_of_plane(0);
  } else if constexpr (kDtype == Dtype::kBf16) {
    const std::uint32_t around = byte_of_plane(0);
    return (around & 0x80) << 8 | byte << 7 | (around & 0x7F);
  } else {
    const std::uint32_t around = byte_of_plane(1);
    const std::uint32_t low =
        *reinterpret_cast<const std::uint16_t*>(payload + parts.plane[0] + 2 * number);
    return (around & 0x80) << 24 | byte << 23 | (around & 0x7F) << 16 | low;
  }
}

// A chunk of zeros alone.
template <Dtype kDtype, int kRows, typename Sink>
__device__ bool decode_zeros(const std::byte* payload, const Destination<kDtype>& destination,
                             const Sink& sink) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(payload);
  if (words[0] != kHeadFlag || (words[1] | words[2] | words[3]) != 0) return false;
  const Rows rows(destination.values);
#pragma unroll 1
  for (int at = 0; at < rows.count; ++at) {
    destination.put(Group<kDtype>{}, rows.first + at, sink);
  }
  return true;
}

// How many values the mask of a chunk keeps: of the warps before this one, and of all. For whole
// thread blocks; has a barrier.
__device__ inline Shares count_kept(const std::byte* payload, const Rows& rows, unsigned lane,
                                    std::uint32_t (&scratch)[kStretches]) {
  std::uint32_t own = 0;
#pragma unroll 1
  for (int at = 0; at < rows.count; ++at) own += __popc(mask_of(payload, rows.first + at, lane));
  return share(cuda::sum_of_lanes(own), scratch);
}

// Kept values to their places, zeros to the others. `next` is the number of the warp's first one.
template <Dtype kDtype, typename Sink>
__device__ void put_zeros_in(const std::byte* payload, const Parts& parts, const Rows& rows,
                             std::uint32_t next, const Destination<kDtype>& destination,
                             const Sink& sink) {
#pragma unroll 1
  for (int at = 0; at < rows.count; ++at) {
    const std::uint32_t bits = mask_of(payload, rows.first + at, destination.lane);
    const std::uint32_t own = __popc(bits);
    const std::uint32_t up_to = cuda::sum_up_to_lane(own);
    const auto value = [&](std::uint32_t number) {
      return kept_value<kDtype>(payload, parts, number);
    };
    const auto group = with_zeros_in<kDtype>(next + up_to - own, bits, value);
    destination.put(group, rows.first + at, sink);
    next += __shfl_sync(kAllLanes, up_to, 31);
  }
}

// A payload into its chunk's values. False, for all threads, if it is damaged.
template <Dtype kDtype, int kRows, typename Sink>
__device__ bool decode_piece(std::byte* payload, std::uint32_t bytes, const cuda::Target& target,
                             std::uint32_t (&scratch)[kStretches], const Sink& sink) {
  if (bytes < kHeadBytes) return false;
  const Destination<kDtype> destination{target.at, target.values, threadIdx.x % 32};
  const Rows rows(target.values);
  const auto all = static_cast<std::uint32_t>(rows.all);
  Decoder<kDtype, kRows> decoder{payload, destination.lane, rows, {}, {}};
  Extent extent = whole_extent(all);
  const bool has_mask = (*reinterpret_cast<const std::uint32_t*>(payload) & kHeadFlag) != 0;
  Shares kept{};
  if (has_mask) {
    if (bytes == kHeadBytes) return decode_zeros<kDtype, kRows>(payload, destination, sink);
    if (bytes < kHeadBytes + all * kRowGroups) return false;
    kept = count_kept(payload, rows, destination.lane, scratch);
    if (!may_be_kept<kDtype>(kept.all, target.values)) return false;
    extent = masked_extent(kept.all, all);
    decoder.rows = Rows(kept.all);
  }
  Found<kRows> found;
  const bool is_sound = decoder.take(bytes, extent, found);
  if (!has_mask) {
    if (is_sound) {
#pragma unroll
      for (int at = 0; at < kRows; ++at) {
        if (at >= decoder.rows.count) break;
        destination.put(decoder.join(found, at), decoder.rows.first + at, sink);
      }
    }
    return __syncthreads_and(is_sound) != 0;
  }
  if (is_sound) decoder.complete(found);
  if (__syncthreads_and(is_sound) == 0) return false;
  put_completing<kDtype>(found.exponents, decoder.rows, static_cast<int>(kept.all),
                         destination.lane, payload + completing_at<kDtype>(decoder.parts));
  __syncthreads();
  put_zeros_in(payload, decoder.parts, rows, kept.before, destination, sink);
  return true;
}

}  // namespace thinwire::codec::expack
