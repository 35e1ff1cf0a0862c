// Encoding the chunks of framed.h.
#pragma once

#include "framed.cuh"

namespace roof::framed {

using Rows = Encoded<Format<kRows, kWarps, kWarps, Parts::kTogether>>;

__device__ inline LaneWords words_of(const Rows& rows) {
  LaneWords words;
  std::uint32_t codes[6];
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    const Coded& coded = rows.groups[group];
#pragma unroll
    for (int two = 0; two < 2; ++two) {
      const uint4& plane = coded.planes[two];
      words.planes[4 * group + 2 * two] = join(plane.x, plane.y);
      words.planes[4 * group + 2 * two + 1] = join(plane.z, plane.w);
    }
#pragma unroll
    for (int at = 0; at < 3; ++at) codes[3 * group + at] = coded.codes[at];
  }
#pragma unroll
  for (int at = 0; at < 3; ++at) words.codes[at] = join(codes[2 * at], codes[2 * at + 1]);
  words.bases = join(rows.groups[0].bases, rows.groups[1].bases);
  return words;
}

// All but raw exponents.
__device__ inline void put_words(const LaneWords& words, std::uint64_t* payload, const Seat& seat) {
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    payload[kPlaneWord + (seat.warp * kRows + row) * 32 + seat.lane] = words.planes[row];
  }
#pragma unroll
  for (int at = 0; at < 3; ++at) {
    payload[kCodesWord + (seat.warp * 3 + at) * 32 + seat.lane] = words.codes[at];
  }
  if (seat.lane == 0) payload[1 + seat.warp] = words.bases;
}

// Raw exponents to shared memory, with zeros up to a word.
__device__ inline void stage_raw(const Rows& rows, std::uint32_t first, std::uint32_t all,
                                 Shared& shared, const Seat& seat) {
  if (all > kMostRaw) return;
  auto* const raws = reinterpret_cast<std::uint8_t*>(shared.raws);
  const auto* const staged = reinterpret_cast<const std::uint8_t*>(shared.staged[seat.warp]);
  rows.put_raw(staged, raws + first, seat.lane);
  if (seat.warp == kWarps - 1 && seat.lane < (8 - all % 8) % 8) raws[all + seat.lane] = 0;
}

// Ends a chunk: raw exponents to the payload, and the row of the table. One warp.
template <bool kSums>
__device__ void end_chunk(const EncodeJob& job, std::uint64_t* payload, std::uint32_t raws,
                          const Shared& shared, const Seat& seat) {
  Sum sum(seat);
  for (std::uint32_t at = seat.lane; at < (raws + 7) / 8; at += 32) {
    payload[kRawsWord + at] = shared.raws[at];
    if constexpr (kSums) sum.take_raw(shared.raws[at], at);
  }
  const std::uint32_t size = size_of(raws);
  std::uint64_t all = size;
  if constexpr (kSums) {
    all += sum.over_warp();
    for (const std::uint64_t its : shared.sums) all += its;
  }
  if (seat.lane != 0) return;
  reinterpret_cast<std::uint64_t*>(job.frame + kFrameHeader)[seat.chunk] =
      join(size, kSums ? finish(all) : 0);
  if (seat.chunk == job.chunks - 1) {
    *job.frame_bytes = body(job.chunks) + std::uint64_t{shared.before} * 8 + size;
  }
}

// Has two barriers, between which a warp looks back while the others stage raw exponents and add up
// checksums.
template <bool kSums, int kStep>
__global__ void __launch_bounds__(32 * kWarps) encode(EncodeJob job) {
  SHARED_WORDS;
  Shared& shared = *reinterpret_cast<Shared*>(shared_words);
  const Seat seat;
  const Rows rows =
      encode_rows(job.values, reinterpret_cast<std::uint8_t*>(shared.staged[seat.warp]), seat);
  LaneWords words = words_of(rows);
  const std::uint32_t own = __popc(rows.groups[0].raw) + __popc(rows.groups[1].raw);
  const std::uint32_t up_to = sum_up_to_lane(own, seat.lane);
  if (seat.lane == 31) shared.totals[seat.warp] = up_to;
  __syncthreads();
  std::uint32_t before = 0, all = 0;
  words.ends = 0;
#pragma unroll
  for (unsigned other = 0; other < kWarps; ++other) {
    if (other == seat.warp) before = all;
    all += shared.totals[other];
    words.ends |= std::uint64_t{all & 0xFFFF} << (16 * other);
  }
  const std::uint32_t size = size_of(all);
  if (threadIdx.x == 0) say_own(job.words, seat.chunk, size / 8, job.launch);
  stage_raw(rows, before + up_to - own, all, shared, seat);
  if constexpr (kSums) {
    Sum sum(seat);
    sum.take(words);
    const std::uint64_t its = sum.over_warp();
    if (seat.lane == 0) shared.sums[seat.warp] = its;
  }
  if (seat.warp == 0) {
    const std::uint32_t sizes =
        look_back<kStep>(job.words, seat.chunk, size / 8, job.launch, seat.lane);
    if (seat.lane == 0) shared.before = sizes;
  }
  __syncthreads();
  auto* const payload =
      reinterpret_cast<std::uint64_t*>(job.frame + body(job.chunks)) + shared.before;
  put_words(words, payload, seat);
  if (threadIdx.x == 0) payload[0] = words.ends;
  if (seat.warp == 1) end_chunk<kSums>(job, payload, all, shared, seat);
}

}  // namespace roof::framed
