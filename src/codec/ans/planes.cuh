// A chunk's words to planes in shared memory, by a thread block, four values a thread at a time;
// and counts of the planes' bytes. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/words.cuh"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kThreads = 32 * kWarps;
static_assert(kThreads == 256);  // one for each byte

// The offset of a plane in the memory that has all planes of a chunk.
__device__ inline std::uint32_t plane_at(std::uint32_t plane, std::uint32_t values,
                                         std::uint32_t kept) {
  return plane == 0 ? 0 : filled(values) + (plane - 1) * filled(kept);
}

// Counts of zeros in a chunk, which all threads learn.
struct Zeros {
  std::uint32_t words = 0;  // that are 0
  std::uint32_t bytes = 0;  // of the first plane that are 0
};

// The highest bit of each byte that is not 0.
__device__ inline std::uint32_t bytes_not_0(std::uint32_t four) {
  constexpr std::uint32_t kLow = 0x7f7f7f7fu;
  return (((four & kLow) + kLow) | four) & ~kLow;
}

// The words of four values from `first` on; those beyond `count` are 0.
template <typename Word>
__device__ Four<Word> words_at(const Word* values, std::uint32_t first, std::uint32_t count,
                               std::uint32_t tuple) {
  Four<Word> words = *reinterpret_cast<const Four<Word>*>(values + first);
#pragma unroll
  for (Word& word : words.of) word = sign_to_low(word);
  if (tuple == 1) {
    Word before = first > 0 ? sign_to_low(values[first - 1]) : Word{0};
#pragma unroll
    for (Word& word : words.of) {
      const Word own = word;
      word = fold(static_cast<Word>(own - before));
      before = own;
    }
  } else if (tuple != 0) {
#pragma unroll
    for (std::uint32_t at = 0; at < kFour; ++at) words.of[at] = word_at(values, first + at, tuple);
  }
  if (first + kFour > count) {
#pragma unroll
    for (std::uint32_t at = 0; at < kFour; ++at) {
      if (first + at >= count) words.of[at] = 0;
    }
  }
  return words;
}

// All words to all planes, and the zeros of the own thread. What fills up a plane is 0.
template <typename Word>
__device__ Zeros split(const Word* values, std::uint32_t count, std::uint32_t tuple,
                       std::uint8_t* planes) {
  Zeros own;
#pragma unroll 1
  for (std::uint32_t first = kFour * threadIdx.x; first < count; first += kFour * kThreads) {
    const Four<Word> words = words_at(values, first, count, tuple);
    std::uint32_t any = 0;
#pragma unroll
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      std::uint32_t four = 0;
#pragma unroll
      for (std::uint32_t at = 0; at < kFour; ++at) {
        four |= std::uint32_t{byte_of(words.of[at], plane)} << (8 * at);
      }
      *reinterpret_cast<std::uint32_t*>(planes + plane_at(plane, count, count) + first) = four;
      any |= four;
      if (plane == 0) own.bytes += min(count - first, kFour) - __popc(bytes_not_0(four));
    }
    own.words += min(count - first, kFour) - __popc(bytes_not_0(any));
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

// The same of four bytes of a plane of `size`, if they are there.
__device__ inline std::uint32_t bytes_there(const std::uint8_t* plane, std::uint32_t first,
                                            std::uint32_t size) {
  if (first >= size) return 0;
  std::uint32_t four = *reinterpret_cast<const std::uint32_t*>(plane + first);
  if (size - first < kFour) four &= (1u << 8 * (size - first)) - 1;
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
    for (std::uint32_t at = 0; at < kFour; ++at) {
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
  for (std::uint32_t at = 0; at < kFour; ++at) {
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

// Counts the bytes of a plane. The one that is most of the warp's first ones is counted apart:
// where a byte is frequent lanes would wait for each other. `spare` is a number of the own lane,
// counted up in place of it, so that no lane waits for what others do. For whole thread blocks.
__device__ inline void count_plane(const std::uint8_t* plane, std::uint32_t size,
                                   std::uint32_t* counts, std::uint32_t* spare) {
  const auto* const fours = reinterpret_cast<const std::uint32_t*>(plane);
  const std::uint32_t all = filled(size) / kFour;
  const std::uint32_t sample = threadIdx.x < all ? fours[threadIdx.x] & 0xff : 0;
  const auto alike = static_cast<unsigned>(__popc(__match_any_sync(cuda::kAllLanes, sample)));
  const std::uint32_t often = cuda::most_of_lanes(alike << 8 | sample) & 0xff;
  std::uint32_t others = 0, own = 0;
#pragma unroll 2
  for (std::uint32_t at = threadIdx.x; at < all; at += kThreads) {
    const std::uint32_t four = fours[at];
    others += __popc(bytes_not_0(four ^ often * 0x01010101u));
    own += kFour;
#pragma unroll
    for (std::uint32_t place = 0; place < kFour; ++place) {
      const std::uint32_t byte = four >> (8 * place) & 0xff;
      atomicAdd(byte == often ? spare : counts + byte, 1u);
    }
  }
  const std::uint32_t equal = cuda::sum_of_lanes(own - others);
  if (threadIdx.x % 32 == 0) atomicAdd(counts + often, equal);
  // The bytes that fill the plane up are 0 and were counted too.
  if (threadIdx.x == 0) atomicAdd(counts, size - filled(size));
}

}  // namespace thinwire::codec::ans
