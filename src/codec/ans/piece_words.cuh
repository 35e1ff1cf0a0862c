// Groups of values on their way between memory, words and bytes of planes: four values a lane, by
// one warp; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/pieces.h"
#include "codec/ans/words.cuh"
#include "codec/cuda/any_alignment.cuh"

namespace thinwire::codec::ans {

// Four values as they lie in memory.
template <typename Word>
struct Packed {
  std::uint32_t of[sizeof(Word)];

  __device__ Word get(std::uint32_t at) const {
    if constexpr (sizeof(Word) == 8) {
      return static_cast<Word>(std::uint64_t{of[2 * at + 1]} << 32 | of[2 * at]);
    } else {
      constexpr std::uint32_t kEach = 4 / sizeof(Word);
      return static_cast<Word>(of[at / kEach] >> (kWordBits<Word> * (at % kEach)));
    }
  }

  __device__ static Packed of_words(const Four<Word>& words) {
    Packed packed{};
#pragma unroll
    for (std::uint32_t at = 0; at < kOfLane; ++at) {
      if constexpr (sizeof(Word) == 8) {
        packed.of[2 * at] = static_cast<std::uint32_t>(words.of[at]);
        packed.of[2 * at + 1] = static_cast<std::uint32_t>(words.of[at] >> 32);
      } else {
        constexpr std::uint32_t kEach = 4 / sizeof(Word);
        packed.of[at / kEach] |= std::uint32_t{words.of[at]} << (kWordBits<Word> * (at % kEach));
      }
    }
    return packed;
  }
};

template <typename Word>
__device__ Four<Word> words_in(const Packed<Word>& packed) {
  Four<Word> words;
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) words.of[at] = packed.get(at);
  return words;
}

// sign_to_low() and sign_to_high() of all four.
template <typename Word>
__device__ Packed<Word> signs_to_low(Packed<Word> packed) {
  if constexpr (sizeof(Word) >= 4) {
    Four<Word> words = words_in(packed);
#pragma unroll
    for (Word& word : words.of) word = sign_to_low(word);
    return Packed<Word>::of_words(words);
  } else {
    constexpr std::uint32_t kLow = sizeof(Word) == 1 ? 0x01010101u : 0x00010001u;
#pragma unroll
    for (std::uint32_t& own : packed.of) {
      own = (own << 1 & ~kLow) | (own >> (kWordBits<Word> - 1) & kLow);
    }
    return packed;
  }
}

template <typename Word>
__device__ Packed<Word> signs_to_high(Packed<Word> packed) {
  if constexpr (sizeof(Word) >= 4) {
    Four<Word> words = words_in(packed);
#pragma unroll
    for (Word& word : words.of) word = sign_to_high(word);
    return Packed<Word>::of_words(words);
  } else {
    constexpr int kTop = kWordBits<Word> - 1;
    constexpr std::uint32_t kHigh = sizeof(Word) == 1 ? 0x80808080u : 0x80008000u;
#pragma unroll
    for (std::uint32_t& own : packed.of) own = (own >> 1 & ~kHigh) | (own << kTop & kHigh);
    return packed;
  }
}

// The bytes of one plane, the first value's lowest.
template <typename Word>
__device__ std::uint32_t plane_of(const Packed<Word>& packed, std::uint32_t plane) {
  const std::uint32_t byte = sizeof(Word) - 1 - plane;
  if constexpr (sizeof(Word) == 1) {
    return packed.of[0];
  } else if constexpr (sizeof(Word) == 2) {
    return __byte_perm(packed.of[0], packed.of[1], byte == 0 ? 0x6420 : 0x7531);
  } else {
    constexpr std::uint32_t kEach = sizeof(Word) / 4;
    const std::uint32_t half = byte / 4, pick = byte % 4 * 0x11 + 0x40;
    const std::uint32_t low = __byte_perm(packed.of[half], packed.of[kEach + half], pick);
    const std::uint32_t high =
        __byte_perm(packed.of[2 * kEach + half], packed.of[3 * kEach + half], pick);
    return __byte_perm(low, high, 0x5410);
  }
}

// The words of the bytes of all planes.
template <typename Word>
__device__ Packed<Word> joined(const std::uint32_t (&plane)[sizeof(Word)]) {
  Packed<Word> packed;
  if constexpr (sizeof(Word) == 1) {
    packed.of[0] = plane[0];
  } else if constexpr (sizeof(Word) == 2) {
    packed.of[0] = __byte_perm(plane[1], plane[0], 0x5140);
    packed.of[1] = __byte_perm(plane[1], plane[0], 0x7362);
  } else {
    constexpr std::uint32_t kEach = sizeof(Word) / 4;
#pragma unroll
    for (std::uint32_t half = 0; half < kEach; ++half) {
      const std::uint32_t last = sizeof(Word) - 1 - 4 * half;  // the plane of its lowest byte
#pragma unroll
      for (std::uint32_t two = 0; two < 2; ++two) {
        const std::uint32_t pick = two == 0 ? 0x5140 : 0x7362;
        const std::uint32_t low = __byte_perm(plane[last], plane[last - 1], pick);
        const std::uint32_t high = __byte_perm(plane[last - 2], plane[last - 3], pick);
        packed.of[2 * two * kEach + half] = __byte_perm(low, high, 0x5410);
        packed.of[(2 * two + 1) * kEach + half] = __byte_perm(low, high, 0x7632);
      }
    }
  }
  return packed;
}

// ---- Memory ----

// Whether groups of four values may be loaded and stored at once.
template <typename Word>
__device__ bool has_fours(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(Four<Word>) == 0;
}

// Four values from `at` on, of which `left` are there, more or fewer than four; others are 0.
template <typename Word>
__device__ Packed<Word> load_four(const std::byte* at, int left, bool fours) {
  Packed<Word> packed{};
  if (fours && left >= static_cast<int>(kOfLane)) {
    if constexpr (sizeof(Word) == 1) {
      packed.of[0] = *reinterpret_cast<const std::uint32_t*>(at);
    } else if constexpr (sizeof(Word) == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(at);
      packed.of[0] = two.x, packed.of[1] = two.y;
    } else {
#pragma unroll
      for (std::uint32_t unit = 0; unit < sizeof(Word) / 4; ++unit) {
        const uint4 four = reinterpret_cast<const uint4*>(at)[unit];
        packed.of[4 * unit] = four.x, packed.of[4 * unit + 1] = four.y;
        packed.of[4 * unit + 2] = four.z, packed.of[4 * unit + 3] = four.w;
      }
    }
    return packed;
  }
  Four<Word> values{};
#pragma unroll
  for (int each = 0; each < static_cast<int>(kOfLane); ++each) {
    if (each < left) values.of[each] = cuda::load_value<Word>(at + each * sizeof(Word));
  }
  return Packed<Word>::of_words(values);
}

// Four values to memory that has_fours().
template <typename Word>
__device__ void put_four(std::byte* at, const Packed<Word>& packed) {
  if constexpr (sizeof(Word) == 1) {
    *reinterpret_cast<std::uint32_t*>(at) = packed.of[0];
  } else if constexpr (sizeof(Word) == 2) {
    *reinterpret_cast<uint2*>(at) = {packed.of[0], packed.of[1]};
  } else {
#pragma unroll
    for (std::uint32_t unit = 0; unit < sizeof(Word) / 4; ++unit) {
      reinterpret_cast<uint4*>(at)[unit] = {packed.of[4 * unit], packed.of[4 * unit + 1],
                                            packed.of[4 * unit + 2], packed.of[4 * unit + 3]};
    }
  }
}

template <typename Word, typename Sink>
__device__ void store_four(const Sink& sink, std::byte* at, const Packed<Word>& packed, int left,
                           bool fours) {
  if (!Sink::kAdds && fours && left >= static_cast<int>(kOfLane)) return put_four(at, packed);
#pragma unroll
  for (int each = 0; each < static_cast<int>(kOfLane); ++each) {
    if (each < left) sink.put(at + each * sizeof(Word), packed.get(each));
  }
}

// ---- Words ----

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
