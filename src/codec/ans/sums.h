// Running sums on the host: how a decoder turns differences back into words. Each word becomes the
// sum of itself and of the word `tuple` positions before it, which is a sum already.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstdint>

namespace thinwire::codec::ans {

#ifdef __SSE2__
template <int kSize>
inline __m128i add_lanes(__m128i a, __m128i b) {
  return kSize == 2 ? _mm_add_epi16(a, b) : _mm_add_epi32(a, b);
}

// Running sums inside a vector: each number becomes the sum of itself and of all before it.
template <int kSize>
inline __m128i sums_of(__m128i words) {
  words = add_lanes<kSize>(words, _mm_slli_si128(words, kSize));
  words = add_lanes<kSize>(words, _mm_slli_si128(words, 2 * kSize));
  return kSize == 2 ? add_lanes<kSize>(words, _mm_slli_si128(words, 8)) : words;
}

// A vector of copies of the last number.
template <int kSize>
inline __m128i last_of(__m128i words) {
  const __m128i last = kSize == 2 ? _mm_shufflehi_epi16(words, 0xff) : words;
  return _mm_shuffle_epi32(last, 0xff);
}

// add_up() of a tuple of 1 for as many words as fill whole vectors; returns their number. Only one
// addition of each vector waits for the vector before, not one of each word.
template <typename Word>
std::uint32_t add_up_vectors(Word* words, std::uint32_t values) {
  constexpr int kSize = sizeof(Word);
  if constexpr (kSize == 2 || kSize == 4) {
    constexpr std::uint32_t kWords = 16 / kSize;
    __m128i before = _mm_setzero_si128();
    std::uint32_t at = 0;
    for (; at + kWords <= values; at += kWords) {
      auto* const place = reinterpret_cast<__m128i*>(words + at);
      const __m128i sums = sums_of<kSize>(_mm_load_si128(place));
      _mm_store_si128(place, add_lanes<kSize>(sums, before));
      before = add_lanes<kSize>(before, last_of<kSize>(sums));
    }
    return at;
  }
  return 0;
}
#else
template <typename Word>
std::uint32_t add_up_vectors(Word*, std::uint32_t) {
  return 0;
}
#endif

// add_up() of a tuple that the compiler knows: the last sums stay in registers.
template <std::uint32_t kTuple, typename Word>
void add_up_tuples(Word* words, std::uint32_t values) {
  Word last[kTuple] = {};
  std::uint32_t at = 0;
  for (; at + kTuple <= values; at += kTuple) {
#pragma GCC unroll 4
    for (std::uint32_t place = 0; place < kTuple; ++place) {
      last[place] = static_cast<Word>(last[place] + words[at + place]);
      words[at + place] = last[place];
    }
  }
  for (std::uint32_t place = 0; at < values; ++at, ++place) {
    words[at] = static_cast<Word>(words[at] + last[place]);
  }
}

// Turns `values` differences at `words`, aligned to 16 bytes, into words in place. `tuple` is at
// least 1.
template <typename Word>
void add_up(Word* words, std::uint32_t values, std::uint32_t tuple) {
  constexpr bool kHasVectors = sizeof(Word) == 2 || sizeof(Word) == 4;
  if (tuple == 1 && !kHasVectors) return add_up_tuples<1>(words, values);
  if (tuple == 2) return add_up_tuples<2>(words, values);
  if (tuple == 3) return add_up_tuples<3>(words, values);
  std::uint32_t at = tuple == 1 ? add_up_vectors(words, values) : 0;
  for (at = at < tuple ? tuple : at; at < values; ++at) {
    words[at] = static_cast<Word>(words[at] + words[at - tuple]);
  }
}

}  // namespace thinwire::codec::ans
