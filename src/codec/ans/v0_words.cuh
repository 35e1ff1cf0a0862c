// A chunk's words of version 0 by one thread block: planes in shared memory to words, and words to
// values, each warp a run of them; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/v0_format.h"
#include "codec/ans/words.cuh"

namespace thinwire::codec::ans::v0 {

inline constexpr std::uint32_t kWarps = 8;
inline constexpr std::uint32_t kThreads = 32 * kWarps;

// The run of a warp: rows of 32 words, a word a lane.
template <typename Word>
struct Run {
  static constexpr int kRows = static_cast<int>(kChunkValues<Word> / kWarps / 32);

  __device__ static std::uint32_t place(int row) {
    return threadIdx.x / 32 * (kRows * 32) + row * 32 + threadIdx.x % 32;
  }
};

// The offset of a plane in the memory that has all planes of a chunk.
__device__ inline std::uint32_t plane_at(std::uint32_t plane, std::uint32_t values,
                                         std::uint32_t kept) {
  return plane == 0 ? 0 : filled(values) + (plane - 1) * filled(kept);
}

// The highest bit of each of four bytes of a plane of `size` that are there and not 0.
__device__ inline std::uint32_t bytes_there(const std::uint8_t* plane, std::uint32_t first,
                                            std::uint32_t size) {
  if (first >= size) return 0;
  std::uint32_t four = *reinterpret_cast<const std::uint32_t*>(plane + first);
  if (size - first < kOfLane) four &= (1u << 8 * (size - first)) - 1;
  return bytes_not_0(four);
}

// Four words from value `first` on, of planes that have the bytes of all.
template <typename Word>
__device__ Four<Word> all_words(const std::uint8_t* planes, std::uint32_t first,
                                std::uint32_t values) {
  Four<Word> words{};
#pragma unroll
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::uint32_t four =
        *reinterpret_cast<const std::uint32_t*>(planes + plane_at(plane, values, values) + first);
#pragma unroll
    for (std::uint32_t at = 0; at < kOfLane; ++at) {
      words.of[at] |= word_of<Word>(static_cast<std::uint8_t>(four >> (8 * at)), plane);
    }
  }
  return words;
}

// The same of a sparse chunk, `next` being the place of the first of these words that is `there`.
template <typename Word>
__device__ Four<Word> kept_words(const std::uint8_t* planes, std::uint32_t first,
                                 std::uint32_t there, std::uint32_t next, std::uint32_t values,
                                 std::uint32_t kept) {
  Four<Word> words{};
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) {
    if ((there >> (8 * at) & 0x80) == 0) continue;
    words.of[at] = word_of<Word>(planes[first + at], 0);
#pragma unroll
    for (std::uint32_t plane = 1; plane < sizeof(Word); ++plane) {
      words.of[at] |= word_of<Word>(planes[plane_at(plane, values, kept) + next], plane);
    }
    ++next;
  }
  return words;
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

}  // namespace thinwire::codec::ans::v0
