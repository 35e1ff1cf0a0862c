// Frequencies of a plane's bytes by one warp, eight bytes a lane; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/format.h"
#include "codec/ans/frequencies.h"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

using cuda::kAllLanes;

inline constexpr std::uint32_t kLaneBytes = kBytes / kLanes;

// What all threads know of a plane.
struct PlaneTable {
  std::uint32_t first, groups;
  std::uint32_t rest;
  bool is_coded;
  bool is_mixed;  // has two bytes or more
  bool is_sound;

  __device__ std::uint32_t bytes() const { return is_coded ? 2 + 3 * groups : 0; }
};

// A byte's frequency, and its start << 16.
using Share = std::uint32_t;

__device__ inline std::uint32_t frequency_in(Share share) { return share & 0xffff; }
__device__ inline std::uint32_t start_in(Share share) { return share >> 16; }

// Writes the shares of the own frequencies.
__device__ inline void share_out(const std::uint32_t (&frequency)[kLaneBytes], Share* shares) {
  std::uint32_t own = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) own += frequency[at];
  std::uint32_t start = cuda::sum_up_to_lane(own) - own;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    shares[threadIdx.x % 32 * kLaneBytes + at] = frequency[at] | start << 16;
    start += frequency[at];
  }
}

// Counts of `all` bytes become shares in their place. For whole warps.
__device__ inline PlaneTable make_table(std::uint32_t* counts, std::uint32_t all) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t count[kLaneBytes], frequency[kLaneBytes];
  std::uint32_t most = 0, groups = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    const std::uint32_t byte = lane * kLaneBytes + at;
    count[at] = counts[byte];
    const std::uint32_t key = count[at] << 8 | (kBytes - 1 - byte);
    most = key > most ? key : most;
    groups |= static_cast<std::uint32_t>(count[at] != 0) << (at / 4);
  }
  PlaneTable table{};
  table.is_sound = true;
  table.rest = kBytes - 1 - (cuda::most_of_lanes(most) & 0xff);
  std::uint32_t others = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    const bool is_other = count[at] != 0 && lane * kLaneBytes + at != table.rest;
    frequency[at] = is_other ? frequency_of(code_of(count[at], all)) : 0;
    others += frequency[at];
  }
  others = cuda::sum_of_lanes(others);
  table.first = cuda::least_of_lanes(groups == 0 ? 64 : 2 * lane + (groups == 2));
  table.groups = cuda::most_of_lanes(groups == 0 ? 0 : 2 * lane + (groups > 1)) - table.first + 1;
  if (all == 0 || others >= kScale) return table;
  std::uint32_t cost = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    if (lane * kLaneBytes + at == table.rest) frequency[at] = kScale - others;
    if (count[at] != 0) cost += count[at] * cost_of(frequency[at]);
  }
  table.is_coded = pays(cuda::sum_of_lanes(cost), table.groups, all);
  table.is_mixed = table.is_coded && others > 0;
  share_out(frequency, counts);
  return table;
}

// For whole warps.
__device__ inline void write_table(const PlaneTable& table, const Share* shares, std::byte* out) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (lane == 0) {
    out[0] = static_cast<std::byte>(table.first);
    out[1] = static_cast<std::byte>(table.groups);
  }
#pragma unroll
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t group = 2 * lane + half;
    if (group < table.first || group >= table.first + table.groups) continue;
    std::uint32_t codes = 0;
#pragma unroll
    for (std::uint32_t place = 0; place < 4; ++place) {
      const std::uint32_t byte = 4 * group + place, frequency = frequency_in(shares[byte]);
      const std::uint32_t code = byte == table.rest ? kRestCode
                                 : frequency == 0   ? 0
                                                    : nearest_code(frequency);
      codes |= code << (6 * place);
    }
    std::byte* const at = out + 2 + 3 * (group - table.first);
#pragma unroll
    for (int part = 0; part < 3; ++part) at[part] = static_cast<std::byte>(codes >> (8 * part));
  }
}

// The table at `in`, whose first two bytes are looked at, into shares. For whole warps.
__device__ inline PlaneTable read_table(const std::byte* in, Share* shares) {
  const std::uint32_t lane = threadIdx.x % 32;
  PlaneTable table{};
  table.is_coded = true;
  table.first = static_cast<std::uint32_t>(in[0]);
  table.groups = static_cast<std::uint32_t>(in[1]);
  std::uint32_t frequency[kLaneBytes];
  std::uint32_t others = 0, rests = 0, wrong = 0, rest = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    const std::uint32_t byte = lane * kLaneBytes + at, group = byte / 4;
    std::uint32_t code = 0;
    if (group >= table.first && group < table.first + table.groups) {
      const std::byte* const three = in + 2 + 3 * (group - table.first);
      const std::uint32_t codes = static_cast<std::uint32_t>(three[0]) |
                                  static_cast<std::uint32_t>(three[1]) << 8 |
                                  static_cast<std::uint32_t>(three[2]) << 16;
      code = codes >> (6 * (at % 4)) & 0x3f;
    }
    const bool is_rest = code == kRestCode;
    wrong |= !is_rest && code > kLastCode;
    rests += is_rest;
    rest = is_rest ? byte : rest;
    frequency[at] = is_rest || code > kLastCode ? 0 : frequency_of(code);
    others += frequency[at];
  }
  others = cuda::sum_of_lanes(others);
  table.rest = cuda::most_of_lanes(rest);
  table.is_sound =
      cuda::sum_of_lanes(rests) == 1 && others < kScale && cuda::bits_of_lanes(wrong) == 0;
  table.is_mixed = others > 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    if (table.is_sound && lane * kLaneBytes + at == table.rest) frequency[at] = kScale - others;
  }
  share_out(frequency, shares);
  return table;
}

}  // namespace thinwire::codec::ans
