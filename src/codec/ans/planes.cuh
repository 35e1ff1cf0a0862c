// A chunk's words to planes in shared memory, by a thread block, four values a thread at a time;
// and counts of the planes' bytes. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/words.cuh"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kFour = 4;
inline constexpr std::uint32_t kThreads = 32 * kWarps;

// Where a plane lies among all.
__device__ inline std::uint32_t plane_at(std::uint32_t plane, std::uint32_t values,
                                         std::uint32_t kept) {
  return plane == 0 ? 0 : filled(values) + (plane - 1) * filled(kept);
}

// What a chunk's words are, as all threads know it.
struct Zeros {
  std::uint32_t words = 0;  // that are 0
  std::uint32_t bytes = 0;  // of the first plane that are 0
};

// All words to all planes, and the zeros of the own thread. What fills up a plane is 0.
template <typename Word>
__device__ Zeros split(const Word* values, std::uint32_t count, std::uint32_t tuple,
                       std::uint8_t* planes) {
  Zeros own;
  for (std::uint32_t first = kFour * threadIdx.x; first < count; first += kFour * kThreads) {
    Word word[kFour];
#pragma unroll
    for (std::uint32_t at = 0; at < kFour; ++at) {
      const bool is_there = first + at < count;
      word[at] = is_there ? word_at(values, first + at, tuple) : Word{0};
      own.words += is_there && word[at] == 0;
      own.bytes += is_there && byte_of(word[at], 0) == 0;
    }
#pragma unroll
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      std::uint32_t four = 0;
#pragma unroll
      for (std::uint32_t at = 0; at < kFour; ++at) {
        four |= std::uint32_t{byte_of(word[at], plane)} << (8 * at);
      }
      *reinterpret_cast<std::uint32_t*>(planes + plane_at(plane, count, count) + first) = four;
    }
  }
  return own;
}

// The planes but the first of a sparse chunk once more: of the words that are not 0 alone. `before`
// is how many of those the runs of the warps before have.
template <typename Word>
__device__ void split_kept(const Word* values, std::uint32_t count, std::uint32_t tuple,
                           std::uint32_t kept, std::uint32_t before, std::uint8_t* planes) {
  if (threadIdx.x < sizeof(Word) && threadIdx.x > 0) {
    const std::uint32_t begin = plane_at(threadIdx.x, count, kept);
    for (std::uint32_t at = kept; at < filled(kept); ++at) planes[begin + at] = 0;
  }
#pragma unroll 2
  for (int row = 0; row < Run<Word>::kRows; ++row) {
    const std::uint32_t at = Run<Word>::place(row);
    const Word word = at < count ? word_at(values, at, tuple) : Word{0};
    const unsigned all = __ballot_sync(cuda::kAllLanes, word != 0);
    const std::uint32_t place = before + __popc(all & ((1u << threadIdx.x % 32) - 1));
    before += __popc(all);
    if (word == 0) continue;
#pragma unroll
    for (std::uint32_t plane = 1; plane < sizeof(Word); ++plane) {
      planes[plane_at(plane, count, kept) + place] = byte_of(word, plane);
    }
  }
}

// Counts the bytes of a plane. Those that are the first of the warp's are counted at once: where
// one byte is frequent lanes would wait for each other. For whole thread blocks.
__device__ inline void count_plane(const std::uint8_t* plane, std::uint32_t size,
                                   std::uint32_t* counts) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t row = threadIdx.x - lane; kFour * row < size; row += kThreads) {
    const std::uint32_t first = kFour * (row + lane);
    const std::uint32_t four =
        first < size ? *reinterpret_cast<const std::uint32_t*>(plane + first) : 0;
    const std::uint32_t own = first < size ? size - first : 0;
    const std::uint32_t leader = __shfl_sync(cuda::kAllLanes, four & 0xff, 0);
    std::uint32_t equal = 0;
#pragma unroll
    for (std::uint32_t at = 0; at < kFour; ++at) {
      const std::uint32_t byte = four >> (8 * at) & 0xff;
      const bool is_there = at < own;
      equal += is_there && byte == leader;
      if (is_there && byte != leader) atomicAdd(&counts[byte], 1u);
    }
    equal = cuda::sum_of_lanes(equal);
    if (lane == 0) atomicAdd(&counts[leader], equal);
  }
}

}  // namespace thinwire::codec::ans
