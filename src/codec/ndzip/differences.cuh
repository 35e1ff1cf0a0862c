// Differences along the axes of a box in shared memory, by a thread block of which each thread has
// 128 bytes, and their reversal.
#pragma once

#include "codec/ndzip/staging.cuh"

namespace thinwire::codec::ndzip {

template <typename Word>
using Part = Word[Staging<Word>::kThreadWords];

// `words` less those at `at`.
template <typename Word, int kCount>
__device__ void subtract(Word* words, const std::byte* at) {
  Word other[kCount];
  load_words(at, other);
#pragma unroll
  for (int i = 0; i < kCount; ++i) words[i] -= other[i];
}

// Every word of a row less the one before it; `before` stands before the first.
template <typename Word>
__device__ void subtract_along(Word* row, int count, Word before) {
#pragma unroll
  for (int i = count - 1; i > 0; --i) row[i] -= row[i - 1];
  row[0] -= before;
}

// ---- Whole boxes: the thread's residuals ----

template <typename Word>
__device__ void residuals_1d(const Staging<Word>& staging, Part<Word>& words) {
  const std::byte* const own = staging.part(threadIdx.x);
  load_words(own, words);
  const Word before =
      threadIdx.x == 0 ? Word{0} : staging.word(threadIdx.x * Staging<Word>::kThreadWords - 1);
  subtract_along(words, Staging<Word>::kThreadWords, before);
}

// A row of 64 words is that of two or four threads.
template <typename Word>
__device__ void residuals_2d(const Staging<Word>& staging, Part<Word>& words) {
  constexpr int kCount = Staging<Word>::kThreadWords;
  constexpr unsigned kRowThreads = 64 / kCount;
  const std::byte* const own = staging.part(threadIdx.x);
  const std::byte* const above =
      threadIdx.x < kRowThreads ? staging.zeros() : staging.part(threadIdx.x - kRowThreads);
  load_words(own, words);
  subtract<Word, kCount>(words, above);
  Word before = 0;
  if (threadIdx.x % kRowThreads != 0) {
    const std::uint32_t number = threadIdx.x * kCount - 1;
    before =
        staging.word(number) - (threadIdx.x < kRowThreads ? Word{0} : staging.word(number - 64));
  }
  subtract_along(words, kCount, before);
}

// A thread has two rows of 16 words, or one, and what lies before them along y belongs to the
// thread before.
template <typename Word>
__device__ void residuals_3d(const Staging<Word>& staging, Part<Word>& words) {
  constexpr int kRows = Staging<Word>::kThreadWords / 16;
  constexpr unsigned kPlaneThreads = 16 / kRows;
  constexpr std::uint32_t kLastRow = (kRows - 1) * 16 * sizeof(Word);
  const bool has_plane = threadIdx.x >= kPlaneThreads;
  const bool has_row = threadIdx.x % kPlaneThreads != 0;
  const std::byte* const own = staging.part(threadIdx.x);
  const std::byte* const below =
      has_plane ? staging.part(threadIdx.x - kPlaneThreads) : staging.zeros();
  const std::byte* const left =
      has_row ? staging.part(threadIdx.x - 1) + kLastRow : staging.zeros();
  const std::byte* const below_left = has_row && has_plane
                                          ? staging.part(threadIdx.x - kPlaneThreads - 1) + kLastRow
                                          : staging.zeros();
  load_words(own, words);
  subtract<Word, Staging<Word>::kThreadWords>(words, below);
  if constexpr (kRows == 2) {
#pragma unroll
    for (int x = 0; x < 16; ++x) words[16 + x] -= words[x];
  }
  Word before[16];
  load_words(left, before);
  subtract<Word, 16>(before, below_left);
#pragma unroll
  for (int x = 0; x < 16; ++x) words[x] -= before[x];
#pragma unroll
  for (int row = 0; row < kRows; ++row) subtract_along(words + 16 * row, 16, Word{0});
}

template <typename Word, int kAxes>
__device__ void residuals(const Staging<Word>& staging, Part<Word>& words) {
  if constexpr (kAxes == 1) residuals_1d(staging, words);
  if constexpr (kAxes == 2) residuals_2d(staging, words);
  if constexpr (kAxes == 3) residuals_3d(staging, words);
}

// ---- Clipped boxes: in shared memory, one axis after the other ----

struct Axis {
  std::uint32_t extent;
  std::uint32_t stride;

  __device__ static Axis of(const Box& box, int axis) {
    if (axis == 0) return {box.x, 1};
    if (axis == 1) return {box.y, box.x};
    return {box.z, box.x * box.y};
  }
};

// Begins and ends with all words in place for all threads.
template <typename Word>
__device__ void subtract_clipped(const Staging<Word>& staging, const Box& box) {
  using Stage = Staging<Word>;
  const std::uint32_t values = box.count();
#pragma unroll 1
  for (int each = 0; each < 3; ++each) {
    const Axis axis = Axis::of(box, each);
    if (axis.extent == 1) continue;
    Word words[Stage::kThreadWords];
#pragma unroll
    for (int at = 0; at < Stage::kThreadWords; ++at) {
      const std::uint32_t number = at * Stage::kThreads + threadIdx.x;
      words[at] = staging.word(number);
      if (number < values && number / axis.stride % axis.extent != 0) {
        words[at] -= staging.word(number - axis.stride);
      }
    }
    __syncthreads();
#pragma unroll
    for (int at = 0; at < Stage::kThreadWords; ++at) {
      staging.word(at * Stage::kThreads + threadIdx.x) = words[at];
    }
    __syncthreads();
  }
}

// The same; a thread has whole lines.
template <typename Word>
__device__ void add_clipped(const Staging<Word>& staging, const Box& box) {
  const std::uint32_t values = box.count();
#pragma unroll 1
  for (int each = 0; each < 3; ++each) {
    const Axis axis = Axis::of(box, each);
    if (axis.extent == 1) continue;
#pragma unroll 1
    for (std::uint32_t line = threadIdx.x; line < values / axis.extent;
         line += Staging<Word>::kThreads) {
      const std::uint32_t block = line / axis.stride;
      std::uint32_t number = block * axis.stride * axis.extent + line - block * axis.stride;
      Word sum = 0;
#pragma unroll 4
      for (std::uint32_t at = 0; at < axis.extent; ++at, number += axis.stride) {
        sum += staging.word(number);
        staging.word(number) = sum;
      }
    }
    __syncthreads();
  }
}

}  // namespace thinwire::codec::ndzip
