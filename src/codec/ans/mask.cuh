// The table of a chunk's masks, a quad of four values a lane: every warp has it in registers;
// spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/lookups.cuh"

namespace thinwire::codec::ans {

// The encoder's side.
struct Mask {
  Share share;  // of the own lane's quad, 0 if there is none
  std::uint32_t rest;
  std::uint32_t bytes;  // of the table and what is coded by it
  bool is_there;

  __device__ PieceStep step() const { return piece_step_of(share, threadIdx.x % 32 == rest); }

  // Writes the table. For whole warps.
  __device__ void write(std::uint32_t* out) const {
    const std::uint32_t lane = threadIdx.x % 32, frequency = frequency_in(share);
    const std::uint32_t code = lane == rest     ? kRestCode
                               : frequency == 0 ? 0
                                                : nearest_code(frequency);
    const std::uint64_t codes = std::uint64_t{code} << (6 * lane % 32);
    const std::uint32_t word = 6 * lane / 32;
#pragma unroll
    for (std::uint32_t at = 0; at < kMaskTableBytes / 4; ++at) {
      std::uint32_t own = at == word ? static_cast<std::uint32_t>(codes) : 0;
      if (at == word + 1) own = static_cast<std::uint32_t>(codes >> 32);
      own = cuda::bits_of_lanes(own);
      if (lane == at) out[at] = own;
    }
  }
};

// The step of a quad, of which each lane asks for one; lanes have those of the quads with their
// number. All lanes call.
__device__ inline PieceStep step_of_lane(const PieceStep& own, std::uint32_t quad) {
  return {__shfl_sync(kAllLanes, own.factor, static_cast<int>(quad)),
          __shfl_sync(kAllLanes, own.packed, static_cast<int>(quad))};
}

// The table of `all` quads, by counts of all but the last one. For whole warps.
__device__ inline Mask make_mask(const std::uint32_t* counts, std::uint32_t all) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t count = lane < kQuads - 1 ? counts[lane] : 0;
  const std::uint32_t before_last = cuda::sum_of_lanes(count);
  if (lane == kQuads - 1) count = all - before_last;
  const std::uint32_t most = cuda::most_of_lanes(count << 8 | (kBytes - 1 - lane));
  Mask mask{.share = 0, .rest = kBytes - 1 - (most & 0xff), .bytes = 0, .is_there = false};
  const bool is_other = count != 0 && lane != mask.rest;
  const float part = 1 / static_cast<float>(all);
  std::uint32_t frequency = is_other ? frequency_of(code_by(count, all, part)) : 0;
  const std::uint32_t others = cuda::sum_of_lanes(frequency);
  std::uint32_t cost = cuda::sum_of_lanes(is_other ? count * cost_of(frequency) : 0);
  if (others >= kScale) return mask;
  cost += (most >> 8) * cost_of(kScale - others);
  if (lane == mask.rest) frequency = kScale - others;
  mask.share = frequency | (cuda::sum_up_to_lane(frequency) - frequency) << 16;
  mask.bytes = coded_bytes(cost, kMaskTableBytes);
  mask.is_there = true;
  return mask;
}

// The decoder's side: finds the start of the own lane's quad in the table at `in`, kScale if there
// is none. False, for the warp, if the table is not sound. For whole warps.
__device__ inline bool read_mask(const std::byte* in, std::uint32_t& start) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t code = 0;
  if (lane < kQuads) {
    const std::uint32_t bit = 6 * lane, next = min(bit / 8 + 1, kMaskTableBytes - 1);
    const std::uint32_t two =
        static_cast<std::uint32_t>(in[bit / 8]) | static_cast<std::uint32_t>(in[next]) << 8;
    code = two >> bit % 8 & 0x3f;
  }
  const bool is_rest = code == kRestCode;
  std::uint32_t frequency = is_rest || code > kLastCode ? 0 : frequency_of(code);
  const std::uint32_t others = cuda::sum_of_lanes(frequency);
  const std::uint32_t rests = cuda::sum_of_lanes(std::uint32_t{is_rest});
  const bool is_wrong = __any_sync(kAllLanes, code > kLastCode && !is_rest);
  if (rests != 1 || is_wrong || others >= kScale) return false;
  if (is_rest) frequency = kScale - others;
  start = cuda::sum_up_to_lane(frequency) - frequency;
  return true;
}

}  // namespace thinwire::codec::ans
