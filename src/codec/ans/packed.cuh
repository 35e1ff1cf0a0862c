// Four values of a lane, as they lie in memory, as words, and as bytes of planes;
// spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/pieces.h"
#include "codec/ans/tables.cuh"

namespace thinwire::codec::ans {

// Words that a lane has together.
template <typename Word>
struct alignas(sizeof(Word) < 4 ? 4 * sizeof(Word) : 16) Four {
  Word of[kOfLane];
};

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

// A bit of each of four bytes of a lane that there are, given how many values are left.
__device__ inline std::uint32_t there_of(int left) {
  return left >= static_cast<int>(kOfLane) ? 0xfu : left <= 0 ? 0u : (1u << left) - 1;
}

// The highest bit of each byte that is not 0.
__device__ inline std::uint32_t bytes_not_0(std::uint32_t four) {
  constexpr std::uint32_t kLow = 0x7f7f7f7fu;
  return (((four & kLow) + kLow) | four) & ~kLow;
}

// The same of those that are not 0.
__device__ inline std::uint32_t not_0(std::uint32_t four) {
  const std::uint32_t high = bytes_not_0(four);
  return (high >> 7 & 1) | (high >> 14 & 2) | (high >> 21 & 4) | (high >> 28 & 8);
}

// A bit of each of four words that are not 0.
template <typename Word>
__device__ std::uint32_t words_not_0(const Packed<Word>& packed) {
  std::uint32_t any = 0;
#pragma unroll
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) any |= plane_of(packed, plane);
  return not_0(any);
}

}  // namespace thinwire::codec::ans
