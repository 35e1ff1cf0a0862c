// Eight states of ans a vector of AVX2.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "codec/ans/model.h"
#include "codec/ans/states.h"

#define THINWIRE_AVX2 [[gnu::target("avx2,popcnt")]]

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kWide = 8;
inline constexpr std::uint32_t kVectors = kLanes / kWide;

// For each set of lanes a permutation of the bytes of eight words.
struct Permutations {
  alignas(64) std::uint8_t of[1 << kWide][16];
};

inline constexpr std::uint8_t kNone = 0x80;

THINWIRE_AVX2 inline __m128i permutation(const Permutations& all, std::uint32_t lanes) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(all.of[lanes]));
}

THINWIRE_AVX2 inline std::uint32_t lanes_of(__m256i mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
}

struct Vectors {
  __m256i of[kVectors];
};

THINWIRE_AVX2 inline Vectors vectors_of(const States& states) {
  Vectors vectors;
  for (std::uint32_t group = 0; group < kVectors; ++group) {
    vectors.of[group] =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states.data() + group * kWide));
  }
  return vectors;
}

THINWIRE_AVX2 inline void put(const Vectors& vectors, States& states) {
  for (std::uint32_t group = 0; group < kVectors; ++group) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(states.data() + group * kWide),
                        vectors.of[group]);
  }
}

// ---- Encoding ----

THINWIRE_AVX2 inline __m128i pair_of(const Step& low, const Step& high) {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&low));
  return _mm_castpd_si128(
      _mm_loadh_pd(_mm_castsi128_pd(first), reinterpret_cast<const double*>(&high)));
}

struct StepVectors {
  __m256i factor, packed;
};

// Eight loads are faster than two gathers.
THINWIRE_AVX2 inline StepVectors vectors_of_steps(const Step& a, const Step& b, const Step& c,
                                                  const Step& d, const Step& e, const Step& f,
                                                  const Step& g, const Step& h) {
  const __m256 front = _mm256_castsi256_ps(_mm256_set_m128i(pair_of(e, f), pair_of(a, b)));
  const __m256 back = _mm256_castsi256_ps(_mm256_set_m128i(pair_of(g, h), pair_of(c, d)));
  return {_mm256_castps_si256(_mm256_shuffle_ps(front, back, 0x88)),
          _mm256_castps_si256(_mm256_shuffle_ps(front, back, 0xdd))};
}

THINWIRE_AVX2 inline __m256i high_products(__m256i a, __m256i b) {
  const __m256i even = _mm256_mul_epu32(a, b);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

// The words of eight lanes, and which of the lanes give them away.
struct Taken {
  __m128i words;
  std::uint32_t lanes;
};

// gives_word() and taken() of eight lanes, of those that are `there`.
template <bool kAll>
THINWIRE_AVX2 inline Taken take_bytes(__m256i& state, const StepVectors& step, __m256i there) {
  const __m256i low_bits = _mm256_set1_epi32(0xfff);
  const __m256i frequency = _mm256_and_si256(step.packed, low_bits);
  const __m256i start = _mm256_and_si256(_mm256_srli_epi32(step.packed, 12), low_bits);
  const __m256i shift = _mm256_srli_epi32(step.packed, 24);
  const __m256i keeps = _mm256_cmpgt_epi32(frequency, _mm256_srli_epi32(state, 20));
  std::uint32_t gives = lanes_of(keeps) ^ 0xff;
  if constexpr (!kAll) gives &= lanes_of(there);
  const __m256i words = _mm256_and_si256(state, _mm256_set1_epi32(0xffff));
  const __m128i narrow =
      _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  const __m256i left = _mm256_blendv_epi8(_mm256_srli_epi32(state, 16), state, keeps);
  const __m256i quotient = _mm256_srlv_epi32(high_products(left, step.factor), shift);
  const __m256i others = _mm256_sub_epi32(_mm256_set1_epi32(kScale), frequency);
  const __m256i after =
      _mm256_add_epi32(_mm256_add_epi32(left, start), _mm256_mullo_epi32(quotient, others));
  state = kAll ? after : _mm256_blendv_epi8(state, after, there);
  return {narrow, gives};
}

// ---- Decoding ----

// Loads of numbers are faster than a gather.
THINWIRE_AVX2 inline __m128i four_of(const std::uint32_t* slots, __m128i places) {
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(places));
  const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(places, 1));
  __m128i a = _mm_cvtsi32_si128(static_cast<int>(slots[low & 0xffffffff]));
  __m128i b = _mm_cvtsi32_si128(static_cast<int>(slots[high & 0xffffffff]));
  a = _mm_insert_epi32(a, static_cast<int>(slots[low >> 32]), 1);
  b = _mm_insert_epi32(b, static_cast<int>(slots[high >> 32]), 1);
  return _mm_unpacklo_epi64(a, b);
}

THINWIRE_AVX2 inline __m256i slots_of(__m256i state, const Slots& slots) {
  const __m256i remainder = _mm256_and_si256(state, _mm256_set1_epi32(kScale - 1));
  return _mm256_set_m128i(four_of(slots.of.data(), _mm256_extracti128_si256(remainder, 1)),
                          four_of(slots.of.data(), _mm256_castsi256_si128(remainder)));
}

// The states before they took the bytes of `slot`, words aside.
THINWIRE_AVX2 inline __m256i given_back_by(__m256i state, __m256i slot) {
  const __m256i frequency = _mm256_and_si256(_mm256_srli_epi32(slot, 8), _mm256_set1_epi32(0xfff));
  return _mm256_add_epi32(_mm256_mullo_epi32(frequency, _mm256_srli_epi32(state, kScaleBits)),
                          _mm256_srli_epi32(slot, 20));
}

}  // namespace thinwire::codec::ans
