// Decoding the chunks of framed.h.
#pragma once

#include "framed.cuh"

namespace roof::framed {

__device__ inline LaneWords load_words(const std::uint64_t* payload, const Seat& seat) {
  LaneWords words;
  words.ends = __ldg(payload);
  words.bases = __ldg(payload + 1 + seat.warp);
#pragma unroll
  for (int at = 0; at < 3; ++at) {
    words.codes[at] = __ldcs(payload + kCodesWord + (seat.warp * 3 + at) * 32 + seat.lane);
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    words.planes[row] = __ldcs(payload + kPlaneWord + (seat.warp * kRows + row) * 32 + seat.lane);
  }
  return words;
}

// Rows to shared memory, but for raw exponents, of which there is a bit each in `raw`; returns
// their number.
__device__ inline std::uint32_t stage_rows(const LaneWords& words, uint4* staged, unsigned lane,
                                           std::uint32_t (&raw)[2]) {
  std::uint32_t own = 0;
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    std::uint32_t codes[3];
#pragma unroll
    for (int at = 0; at < 3; ++at) {
      const int word = 3 * group + at;
      codes[at] = static_cast<std::uint32_t>(words.codes[word / 2] >> (32 * (word % 2)));
    }
    raw[group] = raw_of(codes);
    own += __popc(raw[group]);
    uint4 planes[2], rows[4];
#pragma unroll
    for (int two = 0; two < 2; ++two) {
      const std::uint64_t first = words.planes[4 * group + 2 * two];
      const std::uint64_t second = words.planes[4 * group + 2 * two + 1];
      planes[two] =
          uint4{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
                static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)};
    }
    decode_group(planes, codes, static_cast<std::uint32_t>(words.bases >> (32 * group)), rows);
#pragma unroll
    for (int row = 0; row < 4; ++row) staged[(group * 4 + row) * 32 + lane] = rows[row];
  }
  return own;
}

// Puts a warp's raw exponents, from `begin` to `end` of the chunk's, in their places.
__device__ inline void patch(const std::uint64_t* raws, std::uint32_t begin, std::uint32_t end,
                             const std::uint32_t (&raw)[2], std::uint32_t next, Shared& shared,
                             const Seat& seat) {
  std::uint64_t* const room = shared.raws + seat.warp * 32;
  const std::uint32_t first = begin / 8, last = (end + 7) / 8;
  const bool is_here = last - first <= 32;
  if (is_here && first + seat.lane < last) room[seat.lane] = __ldcs(raws + first + seat.lane);
  order_memory();
  const auto put = [&](const std::uint8_t* from) {
    put_raw(raw, next, reinterpret_cast<std::uint8_t*>(shared.staged[seat.warp]), seat.lane,
            [&](std::uint32_t at) { return from[at]; });
  };
  if (is_here) {
    put(reinterpret_cast<const std::uint8_t*>(room) - 8 * first);
  } else {
    put(reinterpret_cast<const std::uint8_t*>(raws));
  }
}

// Whether the payload has another checksum than its row of the table says, for thread 0. Has a
// barrier.
__device__ inline bool has_other_sum(const LaneWords& words, const std::uint64_t* payload,
                                     std::uint32_t raws, std::uint64_t row, Shared& shared,
                                     const Seat& seat) {
  Sum sum(seat);
  sum.take(words);
  if (seat.warp == 1) {
    for (std::uint32_t at = seat.lane; at < (raws + 7) / 8; at += 32) {
      sum.take_raw(__ldg(payload + kRawsWord + at), at);
    }
  }
  const std::uint64_t its = sum.over_warp();
  if (seat.lane == 0) shared.sums[seat.warp] = its;
  __syncthreads();
  if (threadIdx.x != 0) return false;
  std::uint64_t all = size_of(raws);
  for (const std::uint64_t one : shared.sums) all += one;
  return finish(all) != row >> 32;
}

template <bool kSums, int kStep>
__global__ void __launch_bounds__(32 * kWarps) decode(DecodeJob job) {
  SHARED_WORDS;
  Shared& shared = *reinterpret_cast<Shared*>(shared_words);
  const Seat seat;
  const auto* const table = reinterpret_cast<const std::uint64_t*>(job.frame + kFrameHeader);
  const std::uint64_t row = __ldg(table + seat.chunk);
  if (seat.warp == 0) {
    const auto words_of = [&](std::uint32_t chunk) {
      return __ldg(reinterpret_cast<const std::uint32_t*>(table + chunk)) / 8;
    };
    const std::uint32_t before =
        sum_known<kStep>(job.words, seat.chunk, job.launch, seat.lane, words_of);
    if (seat.lane == 0) shared.before = before;
  }
  __syncthreads();
  const auto* const payload =
      reinterpret_cast<const std::uint64_t*>(job.frame + body(job.chunks)) + shared.before;
  const LaneWords words = load_words(payload, seat);
  const auto end_of = [&](unsigned warp) {
    return static_cast<std::uint32_t>(words.ends >> (16 * warp) & 0xFFFF);
  };
  const std::uint32_t all = end_of(kWarps - 1), end = end_of(seat.warp);
  const std::uint32_t begin = seat.warp == 0 ? 0 : end_of(seat.warp - 1);
  if (all > kMostRaw || static_cast<std::uint32_t>(row) != size_of(all) || begin > end) {
    *job.damaged = 1;
    return;
  }
  std::uint32_t raw[2];
  const std::uint32_t own = stage_rows(words, shared.staged[seat.warp], seat.lane, raw);
  const std::uint32_t up_to = sum_up_to_lane(own, seat.lane);
  if (seat.lane == 31 && up_to != end - begin) *job.damaged = 1;
  patch(payload + kRawsWord, begin, end, raw, begin + up_to - own, shared, seat);
  order_memory();
  uint4* const out = job.values + std::uint64_t{seat.number} * kRows * 32 + seat.lane;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    __stcs(out + at * 32, static_cast<const uint4&>(shared.staged[seat.warp][at * 32 + seat.lane]));
  }
  if constexpr (kSums) {
    if (has_other_sum(words, payload, all, row, shared, seat)) *job.damaged = 1;
  }
}

}  // namespace roof::framed
