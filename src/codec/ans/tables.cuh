// Frequencies of a plane's bytes; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/format.h"
#include "codec/ans/frequencies.h"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

using cuda::kAllLanes;

inline constexpr std::uint32_t kWarps = 8;
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

// Parts of sums that the warps which make a plane's table exchange: first of counts, then of
// frequencies.
struct TablePart {
  std::uint32_t most;             // the largest count << 8, and 255 - the lowest byte that has it
  std::uint32_t lowest, highest;  // byte that is there
};
struct TableSum {
  std::uint32_t others, cost;  // frequencies of bytes that are not the rest, and what they cost
};
struct TableTeams {
  TablePart parts[kWarps];
  TableSum sums[kWarps];
};

// Counts of bytes become shares in their place: as many warps a plane as there are for each, so
// that a lane has as many bytes as there are planes. For whole thread blocks; has barriers.
template <std::uint32_t kPlanes>
__device__ void make_tables(std::uint32_t (*counts)[kBytes], std::uint32_t values,
                            std::uint32_t kept, TableTeams& teams, PlaneTable* tables) {
  constexpr std::uint32_t kTeam = kWarps / kPlanes;
  constexpr std::uint32_t kEach = kBytes / kLanes / kTeam;
  const std::uint32_t warp = threadIdx.x / 32, plane = warp / kTeam;
  const std::uint32_t first = (warp % kTeam * 32 + threadIdx.x % 32) * kEach;
  const std::uint32_t all = plane == 0 ? values : kept;
  std::uint32_t* const own = counts[plane] + first;
  const TablePart* const team = teams.parts + plane * kTeam;
  const TableSum* const sums = teams.sums + plane * kTeam;
  TablePart part{.most = 0, .lowest = kBytes, .highest = 0};
  std::uint32_t count[kEach], frequency[kEach];
#pragma unroll
  for (std::uint32_t at = 0; at < kEach; ++at) {
    count[at] = own[at];
    part.most = max(part.most, count[at] << 8 | (kBytes - 1 - first - at));
    if (count[at] == 0) continue;
    part.lowest = min(part.lowest, first + at);
    part.highest = first + at;
  }
  part.most = cuda::most_of_lanes(part.most);
  part.lowest = cuda::least_of_lanes(part.lowest);
  part.highest = cuda::most_of_lanes(part.highest);
  if (threadIdx.x % 32 == 0) teams.parts[warp] = part;
  __syncthreads();
#pragma unroll
  for (std::uint32_t other = 0; other < kTeam; ++other) {
    part.most = max(part.most, team[other].most);
    part.lowest = min(part.lowest, team[other].lowest);
    part.highest = max(part.highest, team[other].highest);
  }
  PlaneTable table{};
  table.is_sound = true;
  table.rest = kBytes - 1 - (part.most & 0xff);
  table.first = part.lowest / 4;
  table.groups = part.highest / 4 - table.first + 1;
  std::uint32_t sum = 0, own_cost = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kEach; ++at) {
    const bool is_other = count[at] != 0 && first + at != table.rest;
    frequency[at] = is_other ? frequency_of(code_of(count[at], all)) : 0;
    own_cost += is_other ? count[at] * cost_of(frequency[at]) : 0;
    sum += frequency[at];
  }
  const std::uint32_t up_to = cuda::sum_up_to_lane(sum);
  own_cost = cuda::sum_of_lanes(own_cost);
  if (threadIdx.x % 32 == 31) teams.sums[warp] = {up_to, own_cost};
  __syncthreads();
  std::uint32_t others = 0, cost = 0, start = up_to - sum;
#pragma unroll
  for (std::uint32_t other = 0; other < kTeam; ++other) {
    start += other < warp % kTeam ? sums[other].others : 0;
    others += sums[other].others;
    cost += sums[other].cost;
  }
  if (all != 0 && others < kScale) {
    const std::uint32_t rest = kScale - others;
    cost += (part.most >> 8) * cost_of(rest);
    table.is_coded = pays(cost, table.groups, all);
    table.is_mixed = table.is_coded && others > 0;
    start += first > table.rest ? rest : 0;
#pragma unroll
    for (std::uint32_t at = 0; at < kEach; ++at) {
      if (first + at == table.rest) frequency[at] = rest;
      own[at] = frequency[at] | start << 16;
      start += frequency[at];
    }
  }
  if (warp % kTeam == 0 && threadIdx.x % 32 == 0) tables[plane] = table;
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

}  // namespace thinwire::codec::ans
