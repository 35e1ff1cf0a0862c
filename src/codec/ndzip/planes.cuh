// Heads and planes of a box: 32 of the words of a group's square to each thread.
#pragma once

#include "codec/ndzip/sums.cuh"
#include "codec/ndzip/transpose.cuh"

namespace thinwire::codec::ndzip {

// Which squares of 32 x 32 bits a thread has: the group's only one, or of a group of 64 words one
// of four, the threads in order having the low halves of words 0 to 31, the high halves of these,
// and both of words 32 to 63.
template <typename Word>
struct Square {
  static constexpr unsigned kOfGroup = sizeof(Word) == 4 ? 1 : 4;
  static constexpr unsigned kStride = sizeof(Word) / 4;  // in 32 bits, from one plane to the next

  unsigned group = threadIdx.x / kOfGroup;
  bool is_high = kOfGroup == 4 && threadIdx.x % 2 == 1;
  unsigned half = kOfGroup == 4 ? threadIdx.x / 2 % 2 : 0;
};

// The thread's residuals as the rows of its square, to be transposed from (swapped if it has the
// high halves), and back.
__device__ inline void to_rows(const Part<std::uint32_t>& words, std::uint32_t (&rows)[32]) {
#pragma unroll
  for (int at = 0; at < 32; ++at) rows[at] = words[at];
}

__device__ inline void from_rows(const std::uint32_t (&rows)[32], Part<std::uint32_t>& words) {
#pragma unroll
  for (int at = 0; at < 32; ++at) words[at] = rows[at];
}

// Neighbouring threads have 16 words each, and exchange halves.
__device__ inline void to_rows(const Part<std::uint64_t>& words, std::uint32_t (&rows)[32]) {
  const bool is_high = threadIdx.x % 2 == 1;
#pragma unroll
  for (int at = 0; at < 16; ++at) {
    const auto low = static_cast<std::uint32_t>(words[at]);
    const auto high = static_cast<std::uint32_t>(words[at] >> 32);
    rows[at] = is_high ? high : low;
    rows[16 + at] = __shfl_xor_sync(kAllLanes, is_high ? low : high, 1);
  }
}

__device__ inline void from_rows(const std::uint32_t (&rows)[32], Part<std::uint64_t>& words) {
  const bool is_high = threadIdx.x % 2 == 1;
#pragma unroll
  for (int at = 0; at < 16; ++at) {
    const std::uint32_t own = rows[at];
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, rows[16 + at], 1);
    const std::uint64_t high = is_high ? own : other;
    words[at] = high << 32 | (is_high ? other : own);
  }
}

// Positions of planes: `first` is that of the first plane of the thread's square, `total` the
// number of the box's planes. Has a barrier. `totals` is shared memory of a number for each warp.
template <typename Word>
struct Places {
  std::uint32_t first;
  std::uint32_t total;

  // `head` is the thread's 32 bits of its group's.
  __device__ Places(std::uint32_t head, std::uint32_t* totals) {
    constexpr unsigned kWarps = Staging<Word>::kThreads / 32;
    const unsigned warp = threadIdx.x / 32;
    const Square<Word> square;
    const std::uint32_t own = square.half == 0 ? __popc(head) : 0;
    first = cuda::sum_up_to_lane(own) - own;
    if (threadIdx.x % 32 == 31) totals[warp] = first + own;
    if constexpr (sizeof(Word) == 8) {
      // The second half of a plane stands beside the first.
      const std::uint32_t other = __shfl_up_sync(kAllLanes, first, 2);
      if (square.half == 1) first = other;
    }
    __syncthreads();
    total = 0;
#pragma unroll
    for (unsigned at = 0; at < kWarps; ++at) {
      if (at == warp) first += total;
      total += totals[at];
    }
  }
};

// The heads and planes of all threads at `out`; `planes` are the thread's.
template <typename Word>
__device__ void put_planes(std::uint32_t* out, std::uint32_t groups, std::uint32_t head,
                           std::uint32_t first, const std::uint32_t (&planes)[32]) {
  const Square<Word> square;
  constexpr unsigned kStride = Square<Word>::kStride;
  if (square.group >= groups) return;
  if (square.half == 0) out[square.group * kStride + square.is_high] = head;
  std::uint32_t* next = out + (groups + first) * kStride + square.half;
#pragma unroll
  for (int at = 0; at < 32; ++at) {
    if ((head >> at & 1) == 0) continue;
    *next = planes[at];
    next += kStride;
  }
}

template <typename Word>
__device__ void get_planes(const std::uint32_t* in, std::uint32_t groups, std::uint32_t head,
                           std::uint32_t first, std::uint32_t (&planes)[32]) {
  const Square<Word> square;
  constexpr unsigned kStride = Square<Word>::kStride;
  const std::uint32_t* next = in + (groups + first) * kStride + square.half;
#pragma unroll
  for (int at = 0; at < 32; ++at) {
    planes[at] = 0;
    if ((head >> at & 1) == 0) continue;
    planes[at] = *next;
    next += kStride;
  }
}

}  // namespace thinwire::codec::ndzip
