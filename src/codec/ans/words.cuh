// A chunk's words by one thread block: values to words and back, each warp a run of them;
// spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/format.h"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

inline constexpr int kWarps = 8;

// The run of a warp: rows of 32 words, a word a lane.
template <typename Word>
struct Run {
  static constexpr int kRows = static_cast<int>(kChunkValues<Word>) / kWarps / 32;

  __device__ static std::uint32_t place(int row) {
    return threadIdx.x / 32 * (kRows * 32) + row * 32 + threadIdx.x % 32;
  }
};

// The word of value `at`.
template <typename Word>
__device__ Word word_at(const Word* values, std::uint32_t at, std::uint32_t tuple) {
  const Word own = sign_to_low(values[at]);
  if (tuple == 0) return own;
  const Word before = at >= tuple ? sign_to_low(values[at - tuple]) : Word{0};
  return fold(static_cast<Word>(own - before));
}

template <typename Word>
__device__ Word from_lane(Word word, std::uint32_t lane) {
  if constexpr (sizeof(Word) == 8) {
    return __shfl_sync(cuda::kAllLanes, static_cast<unsigned long long>(word),
                       static_cast<int>(lane));
  } else {
    return static_cast<Word>(
        __shfl_sync(cuda::kAllLanes, static_cast<std::uint32_t>(word), static_cast<int>(lane)));
  }
}

// Folded differences of the runs of all warps become the sums that they are differences of, along
// chains of words `tuple` apart. `ends` is shared memory of 32 words a warp. Has a barrier.
template <typename Word>
__device__ void add_along(Word (&words)[Run<Word>::kRows], std::uint32_t tuple, Word* ends) {
  constexpr int kRows = Run<Word>::kRows;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t of_last = 32 - tuple + lane % tuple;  // of the row before, its own chain's
  Word last = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    Word sum = unfold(words[row]);
    for (std::uint32_t offset = tuple; offset < 32; offset *= 2) {
      const Word left = from_lane(sum, lane - offset);
      if (lane >= offset) sum = static_cast<Word>(sum + left);
    }
    sum = static_cast<Word>(sum + from_lane(last, of_last));
    words[row] = last = sum;
  }
  // Of each run its last `tuple` words, and for each of those before this one what comes before it.
  if (lane >= 32 - tuple) ends[warp * 32 + lane - (32 - tuple)] = last;
  __syncthreads();
  constexpr std::uint32_t kValues = kRows * 32;
  const std::uint32_t own_end = lane < tuple ? lane : 0;
  Word before = 0;
  for (std::uint32_t other = 0; other < warp; ++other) {
    const Word carried = from_lane(before, (kValues + own_end) % tuple);
    before = static_cast<Word>(ends[other * 32 + own_end] + carried);
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    words[row] = static_cast<Word>(words[row] + from_lane(before, (row * 32 + lane) % tuple));
  }
}

}  // namespace thinwire::codec::ans
