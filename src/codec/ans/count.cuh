// The encoding side of chunk.cuh: how often bytes are in planes.
#pragma once

#include "codec/ans/chunk.cuh"

namespace thinwire::codec::ans {

// Counts the bytes of a plane: four a lane, or those whose bit in `there` is 1. Lanes with the same
// byte do not wait for each other, as nobody asks what the number was before.
template <bool kWhole>
__device__ void count_four(std::uint32_t four, std::uint32_t there, std::uint32_t* counts) {
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) {
    if (kWhole || (there >> at & 1) != 0) atomicAdd(counts + (four >> (8 * at) & 0xff), 1u);
  }
}

// The planes of a whole chunk that are to be counted, a bit each. Counts are 0 before and after.
// For whole thread blocks; has barriers.
template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::likely_planes(const Values& values, State& state) {
  Counts& counts = state.counts;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t first = sample_at<Word>(warp);
  const int before = static_cast<int>(first) - static_cast<int>(kGroupValues);
  const Packed<Word> words =
      words_of<false>(values, first, load_group<Word>(values, static_cast<int>(first)),
                      load_group<Word>(values, before));
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    count_four<true>(plane_of(words, plane), 0xf, counts[plane]);
  }
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    std::uint32_t pairs = 0;
#pragma unroll
    for (std::uint32_t byte = lane; byte < kBytes; byte += kLanes) {
      const std::uint32_t times = counts[plane][byte];
      pairs += times * (times - 1);
      counts[plane][byte] = 0;
    }
    pairs = cuda::sum_of_lanes(pairs);
    if (lane == 0) state.is_likely[plane] = pairs >= kLeastPairs;
  }
  __syncthreads();
  std::uint32_t planes = 0;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    planes |= std::uint32_t{state.is_likely[plane]} << plane;
  }
  return planes;
}

// Counts the bytes of some planes of the own warp's piece; `kWhole` if it is as large as pieces
// get. Whether a byte of plane 0 is 0.
template <Dtype kType>
template <bool kWhole>
__device__ bool PieceCoder<kType>::count_groups(const Values& values, std::uint32_t planes,
                                                Counts& counts) {
  // Groups whose values are on their way at the same time.
  constexpr std::uint32_t kAtOnce = !kWhole ? 1 : sizeof(Word) >= 8 ? 1 : sizeof(Word) == 4 ? 2 : 4;
  static_assert(kPieceValues<Word> % (kAtOnce * kGroupValues) == 0);
  const auto load = [&](std::uint32_t first) {
    return kWhole ? load_whole_group<Word>(values.at, first)
                  : load_group<Word>(values, static_cast<int>(first));
  };
  Packed<Word> before{}, next[kAtOnce];
#pragma unroll
  for (std::uint32_t each = 0; each < kAtOnce; ++each) next[each] = load(each * kGroupValues);
  std::uint32_t zeros = 0;
#pragma unroll 1
  for (std::uint32_t first = 0; first < values.count; first += kAtOnce * kGroupValues) {
    Packed<Word> own[kAtOnce];
#pragma unroll
    for (std::uint32_t each = 0; each < kAtOnce; ++each) own[each] = next[each];
    if (first + kAtOnce * kGroupValues < values.count) {
#pragma unroll
      for (std::uint32_t each = 0; each < kAtOnce; ++each) {
        next[each] = load(first + (kAtOnce + each) * kGroupValues);
      }
    }
#pragma unroll
    for (std::uint32_t each = 0; each < kAtOnce; ++each) {
      const std::uint32_t group = first + each * kGroupValues;
      const Packed<Word> words = words_of<kWhole>(values, group, own[each], before);
      before = own[each];
      const std::uint32_t there =
          kWhole ? 0xfu
                 : there_of(static_cast<int>(values.count) -
                            static_cast<int>(group + kOfLane * (threadIdx.x % 32)));
#pragma unroll
      for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
        const std::uint32_t four = plane_of(words, plane);
        if ((planes >> plane & 1) != 0) count_four<kWhole>(four, there, counts[plane]);
        if (plane == 0) zeros |= (four - 0x01010101u) & ~four & 0x80808080u;
      }
    }
  }
  return __any_sync(kAllLanes, zeros != 0);
}

// The same, and quads but for those of four words that are not 0.
template <Dtype kType>
__device__ auto PieceCoder<kType>::count_piece(const Values& values, std::uint32_t planes,
                                               Counts& counts) -> Zeros {
  const bool is_whole = is_easy(values);
  const bool has_zeros = is_whole ? count_groups<true>(values, planes, counts)
                                  : count_groups<false>(values, planes, counts);
  if (kPlanes == 1) return {};
  if (!has_zeros) {
    const std::uint32_t last = values.count % kOfLane;
    if (last != 0 && threadIdx.x % 32 == 0) atomicAdd(counts[kPlanes] + (1u << last) - 1, 1u);
    return {};
  }
  std::uint32_t zero_words = 0, zero_bytes = 0;
  Packed<Word> before{};
#pragma unroll 1
  for (std::uint32_t first = 0; first < values.count; first += kGroupValues) {
    const Packed<Word> own = load_group<Word>(values, static_cast<int>(first));
    const Packed<Word> words = words_of<false>(values, first, own, before);
    before = own;
    const std::uint32_t there = there_of(static_cast<int>(values.count) -
                                         static_cast<int>(first + kOfLane * (threadIdx.x % 32)));
    const std::uint32_t quad = there & words_not_0(words);
    if (there != 0 && quad != kQuads - 1) atomicAdd(counts[kPlanes] + quad, 1u);
    zero_words += __popc(there & ~quad);
    zero_bytes += __popc(there & ~not_0(plane_of(words, 0)));
  }
  zero_words = cuda::sum_of_lanes(zero_words);
  zero_bytes = cuda::sum_of_lanes(zero_bytes);
  return {zero_words,
          zero_words > 0 && zero_words == zero_bytes && is_worth_packing(zero_words, values.count)};
}

// Whether a chunk gets masks, which `masked` words of 0 would be of, and the step of the own lane's
// quad; else `sparse` ones have bytes
// of plane 0 alone. For whole thread blocks; has a barrier.
template <Dtype kType>
__device__ bool PieceCoder<kType>::choose_mask(std::uint32_t values, std::uint32_t sparse,
                                               std::uint32_t masked, std::uint32_t likely,
                                               PieceStep& quad, State& state) {
  Counts& counts = state.counts;
  const std::uint32_t warp = threadIdx.x / 32;
  std::uint32_t with = 0, without = 0;
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    const std::uint32_t lacking = plane == 0 ? 0 : sparse;
    std::uint32_t dense = values - lacking, packed = values - masked;
    if ((likely >> plane & 1) != 0) {
      make_table<false>(counts[plane], dense, lacking, dense);
      make_table<false>(counts[plane], packed, masked, packed);
    }
    without += dense;
    with += packed;
  }
  // Both are below 2^16, together, too.
  if (threadIdx.x % 32 == 0) state.heads[warp] = with | without << 16;
  __syncthreads();
  std::uint32_t sums = 0;
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) sums += state.heads[each];
  const Mask mask = make_mask(counts[kPlanes], quads_of(values));
  quad = mask.step();
  if (warp == 0) mask.write(state.mask_table);
  return mask.is_there && is_worth_masking((sums & 0xffff) + mask.bytes, sums >> 16);
}

}  // namespace thinwire::codec::ans
