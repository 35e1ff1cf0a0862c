// A chunk's words by one thread block: values to words and back, each warp a run of them;
// spec/codec-ans.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "codec/ans/tables.cuh"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

// The run of a warp: rows of 32 words, a word a lane.
template <typename Word>
struct Run {
  static constexpr int kRows = static_cast<int>(kChunkValues<Word> / kWarps / 32);

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

// Words that a lane has together in shared memory.
inline constexpr std::uint32_t kFour = 4;

template <typename Word>
struct alignas(sizeof(Word) < 4 ? 4 * sizeof(Word) : 16) Four {
  Word of[kFour];
};

// Sums of all words of a warp up to each one, and `before` all of them, which gets to be the last
// one. For whole warps.
template <typename Word>
__device__ void add_up(Four<Word>& words, Word& before) {
  using Sum = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
#pragma unroll
  for (std::uint32_t at = 1; at < kFour; ++at) {
    words.of[at] = static_cast<Word>(words.of[at] + words.of[at - 1]);
  }
  const Sum own = words.of[kFour - 1];
  const Sum up_to = cuda::sum_up_to_lane(own);
  const auto left = static_cast<Word>(before + up_to - own);
  before = static_cast<Word>(before + __shfl_sync(cuda::kAllLanes, up_to, 31));
#pragma unroll
  for (std::uint32_t at = 0; at < kFour; ++at) {
    words.of[at] = static_cast<Word>(words.of[at] + left);
  }
}

// Folded differences of the own warp's run become the sums that they are differences of, along
// chains of words `tuple` apart. `ends` takes the last `tuple` words.
template <typename Word>
__device__ void add_along_run(Word* words, std::uint32_t count, std::uint32_t tuple, Word* ends) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t of_last = 32 - tuple + lane % tuple;  // of the row before, its own chain's
  Word last = 0;
#pragma unroll 1
  for (int row = 0; row < Run<Word>::kRows; ++row) {
    const std::uint32_t at = Run<Word>::place(row);
    if (at - lane >= count) break;
    Word sum = unfold(words[at]);
    for (std::uint32_t offset = tuple; offset < 32; offset *= 2) {
      const Word left = from_lane(sum, lane - offset);
      if (lane >= offset) sum = static_cast<Word>(sum + left);
    }
    sum = static_cast<Word>(sum + from_lane(last, of_last));
    words[at] = last = sum;
  }
  if (lane >= 32 - tuple) ends[lane - (32 - tuple)] = last;
}

// Returns the last word that each chain (the words `tuple` apart) has in the runs before this
// warp's own, to the lanes below `tuple`, one for each chain. `ends` has 32 words a warp.
template <typename Word>
__device__ Word before_run(std::uint32_t tuple, const Word* ends) {
  constexpr std::uint32_t kValues = Run<Word>::kRows * 32;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t own_end = lane < tuple ? lane : 0;
  Word before = 0;
  for (std::uint32_t other = 0; other < warp; ++other) {
    const Word carried = from_lane(before, (kValues + own_end) % tuple);
    before = static_cast<Word>(ends[other * 32 + own_end] + carried);
  }
  return before;
}

// Adds to the words of the own warp's run what comes before it, and makes them values.
template <typename Word>
__device__ void add_before_run(Word* words, std::uint32_t count, std::uint32_t tuple, Word before) {
  const std::uint32_t step = 32 % tuple;
  std::uint32_t chain = threadIdx.x % 32 % tuple;
#pragma unroll 2
  for (int row = 0; row < Run<Word>::kRows; ++row) {
    const std::uint32_t at = Run<Word>::place(row);
    if (at - threadIdx.x % 32 >= count) break;
    words[at] = sign_to_high(static_cast<Word>(words[at] + from_lane(before, chain)));
    chain += step;
    chain -= chain >= tuple ? tuple : 0;
  }
}

}  // namespace thinwire::codec::ans
