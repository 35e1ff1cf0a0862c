// Tables of a plane's bytes, by one warp each; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/frequencies.h"
#include "codec/ans/pieces.h"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

using cuda::kAllLanes;

inline constexpr std::uint32_t kLaneBytes = kBytes / kLanes;  // of a table that one warp reads

// The properties of a plane that all threads know.
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

// code_of() without a division of whole numbers; `part` is 1 / all, and `all` at most kChunkBytes.
__device__ inline std::uint32_t code_by(std::uint32_t count, std::uint32_t all, float part) {
  const auto number = static_cast<std::int32_t>(kScale * count + all / 2);
  auto quotient = static_cast<std::int32_t>(static_cast<float>(number) * part);  // at most 1 off
  const std::int32_t left = number - quotient * static_cast<std::int32_t>(all);
  quotient += (left >= static_cast<std::int32_t>(all)) - (left < 0);
  return nearest_code(static_cast<std::uint32_t>(max(quotient, 1)));
}

// The table of a plane of `all` bytes, `planned` bytes long with these, by counts that have
// `lacking` bytes of 0 more. If `kPuts`, counts become shares in their place. For whole warps.
template <bool kPuts>
__device__ inline PlaneTable make_table(std::uint32_t* counts, std::uint32_t all,
                                        std::uint32_t lacking, std::uint32_t& planned) {
  const std::uint32_t first = threadIdx.x % 32 * kLaneBytes;
  std::uint32_t* const own = counts + first;
  std::uint32_t count[kLaneBytes], frequency[kLaneBytes];
  std::uint32_t most = 0, lowest = kBytes, highest = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    count[at] = own[at] - (first + at == 0 ? lacking : 0);
    most = max(most, count[at] << 8 | (kBytes - 1 - first - at));
    if (count[at] == 0) continue;
    lowest = min(lowest, first + at);
    highest = first + at;
  }
  most = cuda::most_of_lanes(most);
  PlaneTable table{};
  table.is_sound = true;
  table.rest = kBytes - 1 - (most & 0xff);
  table.first = cuda::least_of_lanes(lowest) / 4;
  table.groups = cuda::most_of_lanes(highest) / 4 - table.first + 1;
  planned = all;
  if (all == 0) return table;
  const float part = 1 / static_cast<float>(all);
  std::uint32_t sum = 0, cost = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    const bool is_other = count[at] != 0 && first + at != table.rest;
    frequency[at] = is_other ? frequency_of(code_by(count[at], all, part)) : 0;
    cost += is_other ? count[at] * cost_of(frequency[at]) : 0;
    sum += frequency[at];
  }
  const std::uint32_t others = cuda::sum_of_lanes(sum);
  cost = cuda::sum_of_lanes(cost);
  if (others >= kScale) return table;
  const std::uint32_t rest = kScale - others;
  cost += (most >> 8) * cost_of(rest);
  table.is_coded = pays(cost, table.groups, all);
  table.is_mixed = table.is_coded && others > 0;
  if (table.is_coded) planned = coded_bytes(cost, table.bytes());
  if (!kPuts) return table;
  std::uint32_t start = cuda::sum_up_to_lane(sum) - sum + (first > table.rest ? rest : 0);
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    if (first + at == table.rest) frequency[at] = rest;
    own[at] = frequency[at] | start << 16;
    start += frequency[at];
  }
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

// The start of a byte; the difference to the next byte's start is its frequency.
using Start = std::uint16_t;

// The table at `in`, whose first two bytes are looked at, into starts. For whole warps.
__device__ inline PlaneTable read_table(const std::byte* in, Start* starts) {
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
  std::uint32_t start = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) start += frequency[at];
  start = cuda::sum_up_to_lane(start) - start;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    starts[lane * kLaneBytes + at] = static_cast<Start>(start);
    start += frequency[at];
  }
  return table;
}

// The tables of the coded planes from `at` on, planes in turn by warps. False, for all threads, if
// one is not sound. For thread blocks of so many warps; has a barrier.
template <std::uint32_t kWarps, std::uint32_t kPlanes>
__device__ bool read_tables(const std::byte* in, std::uint32_t at, std::uint32_t bytes,
                            std::uint32_t coded, Start (*starts)[kBytes], PlaneTable* tables) {
  const std::uint32_t warp = threadIdx.x / 32;
  bool fits = true;
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    PlaneTable table{};
    table.is_sound = true;
    if ((coded >> plane & 1) != 0 && fits) {
      const std::uint32_t first = at + 2 <= bytes ? static_cast<std::uint32_t>(in[at]) : 64;
      const std::uint32_t groups = at + 2 <= bytes ? static_cast<std::uint32_t>(in[at + 1]) : 0;
      const std::uint32_t end = at + 2 + 3 * groups;
      fits = groups > 0 && first + groups <= kBytes / 4 && end <= bytes;
      if (fits && plane % kWarps == warp) table = read_table(in + at, starts[plane]);
      at = end;
    }
    if (plane % kWarps == warp && threadIdx.x % 32 == 0) tables[plane] = table;
  }
  if (!fits) return false;
  __syncthreads();
  bool is_sound = true;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) is_sound &= tables[plane].is_sound;
  return is_sound;
}

}  // namespace thinwire::codec::ans
