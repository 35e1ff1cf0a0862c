// Encoding a format of format.h. A warp keeps what it makes of its rows in registers until it knows
// where that goes; there is no copy of a payload in shared memory.
#pragma once

#include <cstddef>

#include "group.cuh"
#include "look_back.cuh"

namespace roof {

// How an encoder learns where raw exponents, or all of a chunk, go.
enum class Learns {
  kLooksBack,
  kGuesses,  // wrongly, without waiting: for its time alone
  kLater,    // raw exponents stay in slots of their own, from which another kernel takes them
};

struct EncodeJob {
  const uint4* values;
  std::uint8_t* frame;
  Word* words;
  std::uint64_t* frame_bytes;
  std::uint8_t* slots;
  std::uint32_t chunks;
  std::uint32_t launch;
};

template <typename F>
constexpr std::size_t encode_shared() {
  return sizeof(uint4) * F::kBlockWarps * (1 + F::kRows * 32);
}

// The position of a warp.
template <typename F>
struct Seat {
  unsigned lane = threadIdx.x % 32;
  unsigned warp = threadIdx.x / 32;
  std::uint32_t number = blockIdx.x * F::kBlockWarps + warp;  // among all warps
  std::uint32_t chunk = F::kIsAlone ? number : blockIdx.x;
  unsigned within = F::kIsAlone ? 0 : warp;  // the chunk
};

// A warp's rows.
template <typename F>
struct Encoded {
  Coded groups[F::kGroups];

  // Puts planes and codes at `to`.
  __device__ void put_fixed(std::uint8_t* to, unsigned lane) const {
#pragma unroll
    for (int group = 0; group < F::kGroups; ++group) {
#pragma unroll
      for (int two = 0; two < 2; ++two) {
        reinterpret_cast<uint4*>(to)[(group * 2 + two) * 32 + lane] = groups[group].planes[two];
      }
#pragma unroll
      for (int word = 0; word < 3; ++word) {
        auto* const codes = reinterpret_cast<std::uint32_t*>(to + F::kWarpValues);
        codes[(group * 3 + word) * 32 + lane] = groups[group].codes[word];
      }
    }
  }

  // One lane.
  __device__ void put_head(std::uint8_t* to, std::uint32_t raw_end) const {
    if constexpr (F::kGroups == 1) {
      *reinterpret_cast<uint2*>(to) = uint2{groups[0].bases, raw_end};
    } else {
      *reinterpret_cast<uint4*>(to) = uint4{groups[0].bases, groups[1].bases, raw_end, 0};
    }
  }

  // Puts the lane's raw exponents, which it takes from the rows in `staged`.
  __device__ void put_raw(const std::uint8_t* staged, std::uint8_t* to, unsigned lane) const {
#pragma unroll
    for (int group = 0; group < F::kGroups; ++group) {
      for (std::uint32_t left = groups[group].raw; left != 0; left &= left - 1) {
        const std::uint32_t at = offset_of(__ffs(static_cast<int>(left)) - 1, lane);
        const std::uint8_t* const from = staged + group * kGroupBytes + at;
        const std::uint32_t exponent = *reinterpret_cast<const std::uint16_t*>(from) >> 7 & 255;
        if constexpr (F::kIsNamed) {
          to[0] = static_cast<std::uint8_t>(at / 2);
          to[1] = static_cast<std::uint8_t>(at / 512);
        }
        to[F::kRawBytes - 1] = static_cast<std::uint8_t>(exponent);
        to += F::kRawBytes;
      }
    }
  }
};

// Encodes the warp's rows, which stay in `staged`.
template <typename F>
__device__ Encoded<F> encode_rows(const uint4* values, std::uint8_t* staged, const Seat<F>& seat) {
  uint4 rows[F::kGroups][4];
#pragma unroll
  for (int row = 0; row < F::kRows; ++row) {
    rows[row / 4][row % 4] =
        __ldcs(values + (std::uint64_t{seat.number} * F::kRows + row) * 32 + seat.lane);
  }
  Encoded<F> encoded;
#pragma unroll
  for (int group = 0; group < F::kGroups; ++group) {
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      reinterpret_cast<uint4*>(staged)[(group * 4 + row) * 32 + seat.lane] = rows[group][row];
    }
    encoded.groups[group] = code_group<F::kIsNamed>(rows[group]);
  }
  return encoded;
}

// Raw exponents of the warps of a chunk before this one, and of all. `totals` is shared.
struct Shares {
  std::uint32_t before, all;
};

template <typename F>
__device__ Shares share(std::uint32_t own, std::uint32_t* totals, const Seat<F>& seat) {
  if constexpr (F::kIsAlone) return {0, own};
  if (seat.lane == 0) totals[seat.warp] = own;
  __syncthreads();
  Shares shares{};
#pragma unroll
  for (unsigned other = 0; other < F::kWarps; ++other) {
    if (other == seat.warp) shares.before = shares.all;
    shares.all += totals[other];
  }
  return shares;
}

// The sum of the sizes of the chunks before this one, for all of its warps.
template <typename F, Learns kLearns>
__device__ std::uint32_t learn(const EncodeJob& job, std::uint32_t size, std::uint32_t* shared,
                               const Seat<F>& seat) {
  if constexpr (kLearns == Learns::kGuesses) return seat.chunk * size;
  if constexpr (kLearns == Learns::kLater) {
    if (threadIdx.x == 0) reinterpret_cast<std::uint32_t*>(job.words)[seat.chunk] = size;
    return 0;
  }
  std::uint32_t before = 0;
  if (seat.within == 0) {
    if (seat.lane == 0) say_own(job.words, seat.chunk, size, job.launch);
    before = look_back<F::kStep>(job.words, seat.chunk, size, job.launch, seat.lane);
  }
  if constexpr (F::kIsAlone) {
    order_memory();
    return before;
  }
  if (threadIdx.x == 0) *shared = before;
  __syncthreads();
  return *shared;
}

template <typename F>
__device__ void put_row_of_table(const EncodeJob& job, std::uint32_t before, std::uint32_t size,
                                 std::uint32_t chunk) {
  reinterpret_cast<std::uint32_t*>(job.frame)[chunk] = F::kEnds ? before + size : size;
  if (chunk == job.chunks - 1) *job.frame_bytes = F::frame_bytes(job.chunks, before + size);
}

// Zeros up to whole units. One warp.
template <typename F>
__device__ void fill_up(std::uint8_t* chunk, std::uint32_t raws, std::uint32_t size,
                        unsigned lane) {
  const std::uint32_t used = F::used(raws);
  if (lane < size * F::kUnit - used) chunk[used + lane] = 0;
  constexpr std::uint32_t kHeads = F::kHeadBytes * F::kWarps;
  if constexpr (F::kChunkHeadBytes > kHeads) {
    if (lane < F::kChunkHeadBytes - kHeads) chunk[kHeads + lane] = 0;
  }
}

template <typename F, Learns kLearns>
__global__ void __launch_bounds__(32 * F::kBlockWarps) encode(EncodeJob job) {
  SHARED_WORDS;
  const Seat<F> seat;
  auto* const numbers = reinterpret_cast<std::uint32_t*>(shared_words);
  auto* const staged =
      reinterpret_cast<std::uint8_t*>(shared_words + F::kBlockWarps + seat.warp * F::kRows * 32);
  const Encoded<F> encoded = encode_rows(job.values, staged, seat);
  if constexpr (F::kIsApart) {
    const std::uint64_t at = F::fixed(job.chunks) + std::uint64_t{seat.number} * F::kFixedBytes;
    encoded.put_fixed(job.frame + at, seat.lane);
  }
  std::uint32_t own = 0;
#pragma unroll
  for (int group = 0; group < F::kGroups; ++group) own += __popc(encoded.groups[group].raw);
  const std::uint32_t up_to = sum_up_to_lane(own, seat.lane);
  const std::uint32_t all = __shfl_sync(kAllLanes, up_to, 31);
  const Shares shares = share<F>(all, numbers + 1, seat);
  const std::uint32_t size = F::size_of(shares.all);
  const std::uint32_t before = learn<F, kLearns>(job, size, numbers, seat);
  if (kLearns != Learns::kLater && seat.lane == 0 && seat.within == 0) {
    put_row_of_table<F>(job, before, size, seat.chunk);
  }
  std::uint8_t *heads, *raws;
  if constexpr (F::kIsApart) {
    heads = job.frame + F::body(job.chunks) + std::uint64_t{seat.chunk} * F::kWarps * F::kHeadBytes;
    raws = kLearns == Learns::kLater
               ? job.slots + std::uint64_t{seat.chunk} * F::kChunkValues * F::kRawBytes
               : job.frame + F::raw(job.chunks) + before;
  } else {
    heads = job.frame + F::body(job.chunks) + std::uint64_t{before} * F::kUnit;
    std::uint8_t* const fixed = heads + F::kChunkHeadBytes;
    encoded.put_fixed(fixed + seat.within * F::kFixedBytes, seat.lane);
    raws = fixed + F::kWarps * F::kFixedBytes;
    if (seat.within == F::kWarps - 1) fill_up<F>(heads, shares.all, size, seat.lane);
  }
  if (seat.lane == 0) {
    encoded.put_head(heads + seat.within * F::kHeadBytes, shares.before + all);
  }
  encoded.put_raw(staged, raws + (shares.before + up_to - own) * F::kRawBytes, seat.lane);
}

}  // namespace roof
