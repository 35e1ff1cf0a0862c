// Groups of values to words and back, by one warp; spec/codec-ans.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "codec/ans/packed_memory.cuh"
#include "codec/cuda/warp.cuh"

namespace thinwire::codec::ans {

// A piece's values in memory.
struct Values {
  const std::byte* at;
  std::uint32_t count;
  std::uint32_t tuple;
  bool fours;
};

// The own lane's values of a group that is all there, in memory that has_fours().
template <typename Word>
__device__ Packed<Word> load_whole_group(const std::byte* at, std::uint32_t first) {
  return load_four<Word>(at + (first + kOfLane * (threadIdx.x % 32)) * sizeof(Word),
                         static_cast<int>(kOfLane), true);
}

// The own lane's values of the group that begins with value `first`, 0 beyond the ends of a piece.
template <typename Word>
__device__ Packed<Word> load_group(const Values& values, int first) {
  const int own = first + static_cast<int>(kOfLane * (threadIdx.x % 32));
  const int left = first < 0 ? 0 : static_cast<int>(values.count) - own;
  return load_four<Word>(
      values.at + static_cast<std::ptrdiff_t>(own * static_cast<int>(sizeof(Word))), left,
      values.fours);
}

// Differences of words to others, folded: several of a narrow word at once.
template <typename Word>
__device__ Packed<Word> folded(const Packed<Word>& words, const Packed<Word>& others) {
  if constexpr (sizeof(Word) >= 4) {
    Four<Word> own = words_in(words);
    const Four<Word> other = words_in(others);
#pragma unroll
    for (std::uint32_t at = 0; at < kOfLane; ++at) {
      own.of[at] = fold(static_cast<Word>(own.of[at] - other.of[at]));
    }
    return Packed<Word>::of_words(own);
  } else {
    constexpr int kTop = kWordBits<Word> - 1;
    constexpr std::uint32_t kEach = sizeof(Word) == 1 ? 0x01010101u : 0x00010001u;
    constexpr std::uint32_t kHigh = kEach << kTop;
    Packed<Word> packed{};
#pragma unroll
    for (std::uint32_t at = 0; at < sizeof(Word); ++at) {
      const std::uint32_t a = words.of[at], b = others.of[at];
      const std::uint32_t difference = ((a | kHigh) - (b & ~kHigh)) ^ ((a ^ ~b) & kHigh);
      const std::uint32_t negative = difference >> kTop & kEach;
      const std::uint32_t ones = negative * static_cast<std::uint32_t>(static_cast<Word>(~Word{0}));
      packed.of[at] =
          ((difference ^ ones) & (kEach * kInner<Word>)) | (difference & kEach) << kTop | negative;
    }
    return packed;
  }
}

// The words one place before those of the own lane; `before` are those of the group before.
template <typename Word>
__device__ Packed<Word> words_before(const Packed<Word>& words, const Packed<Word>& before) {
  const std::uint32_t lane = threadIdx.x % 32;
  constexpr std::uint32_t kLast = sizeof(Word) - 1;
  Packed<Word> others;
  const auto shifted = [&](std::uint32_t at) {
    const std::uint32_t brings = lane == 31 ? before.of[at] : words.of[at];
    return __shfl_sync(kAllLanes, brings, static_cast<int>((lane + 31) % 32));
  };
  if constexpr (sizeof(Word) == 8) {
    others.of[0] = shifted(kLast - 1), others.of[1] = shifted(kLast);
#pragma unroll
    for (std::uint32_t at = 2; at < sizeof(Word); ++at) others.of[at] = words.of[at - 2];
  } else {
    constexpr std::uint32_t kPick = sizeof(Word) == 1   ? 0x6543
                                    : sizeof(Word) == 2 ? 0x5432
                                                        : 0x3210;
    others.of[0] = __byte_perm(shifted(kLast), words.of[0], kPick);
#pragma unroll
    for (std::uint32_t at = 1; at < sizeof(Word); ++at) {
      others.of[at] = __byte_perm(words.of[at - 1], words.of[at], kPick);
    }
  }
  return others;
}

// The words of a group of these values, after a group with the values `before`, of the own lane.
// `kWhole` if all are there, and the tuple is 0 or 1. For whole warps.
template <bool kWhole, typename Word>
__device__ Packed<Word> words_of(const Values& values, std::uint32_t first, const Packed<Word>& own,
                                 const Packed<Word>& before) {
  const Packed<Word> words = signs_to_low(own);
  if (values.tuple == 0) return words;
  const std::uint32_t at = first + kOfLane * (threadIdx.x % 32);
  Packed<Word> others;
  if (kWhole || values.tuple == 1) {
    others = words_before(words, signs_to_low(before));  // 0 before a piece
  } else {
    Four<Word> other{};
#pragma unroll
    for (std::uint32_t each = 0; each < kOfLane; ++each) {
      const bool has_other = at + each >= values.tuple && at + each < values.count;
      if (has_other) {
        other.of[each] = sign_to_low(
            cuda::load_value<Word>(values.at + (at + each - values.tuple) * sizeof(Word)));
      }
    }
    others = Packed<Word>::of_words(other);
  }
  const Packed<Word> differences = folded(words, others);
  if (kWhole) return differences;
  Four<Word> there = words_in(differences);
#pragma unroll
  for (std::uint32_t each = 0; each < kOfLane; ++each) {
    if (at + each >= values.count) there.of[each] = 0;
  }
  return Packed<Word>::of_words(there);
}

// Sums of all words of a warp up to each one, and `before` all of them, which gets to be the last
// one. For whole warps.
template <typename Word>
__device__ void add_up(Four<Word>& words, Word& before) {
  using Sum = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
#pragma unroll
  for (std::uint32_t at = 1; at < kOfLane; ++at) {
    words.of[at] = static_cast<Word>(words.of[at] + words.of[at - 1]);
  }
  const Sum own = words.of[kOfLane - 1];
  const Sum up_to = cuda::sum_up_to_lane(own);
  const auto left = static_cast<Word>(before + up_to - own);
  before = static_cast<Word>(before + __shfl_sync(cuda::kAllLanes, up_to, 31));
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) {
    words.of[at] = static_cast<Word>(words.of[at] + left);
  }
}

// Sums along chains `tuple` apart, for tuples above 1, in a warp's shared memory.
template <typename Word>
struct Chains {
  Word before[kMaxTuple];  // the last sums
  Word own[kGroupValues];

  __device__ void clear() {
    before[threadIdx.x % 32] = 0;
    __syncwarp();
  }

  // For whole warps.
  __device__ void add_up(Four<Word>& words, std::uint32_t tuple) {
    const std::uint32_t first = kOfLane * (threadIdx.x % 32);
#pragma unroll
    for (std::uint32_t each = 0; each < kOfLane; ++each) {
      if (first + each < tuple) {
        words.of[each] =
            static_cast<Word>(words.of[each] + before[kMaxTuple + first + each - tuple]);
      }
      own[first + each] = words.of[each];
    }
    __syncwarp();
    for (std::uint32_t offset = tuple; offset < kGroupValues; offset *= 2) {
#pragma unroll
      for (std::uint32_t each = 0; each < kOfLane; ++each) {
        if (first + each >= offset) {
          words.of[each] = static_cast<Word>(words.of[each] + own[first + each - offset]);
        }
      }
      __syncwarp();
#pragma unroll
      for (std::uint32_t each = 0; each < kOfLane; ++each) own[first + each] = words.of[each];
      __syncwarp();
    }
    before[threadIdx.x % 32] = own[kGroupValues - kMaxTuple + threadIdx.x % 32];
    __syncwarp();
  }
};

}  // namespace thinwire::codec::ans
