// The steps of states.h, eight states a vector: by AVX2, where the processor that runs this has it.
#include "codec/ans/states.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "base/vector_units.h"

#define THINWIRE_AVX2 [[gnu::target("avx2,popcnt")]]

namespace thinwire::codec::ans {
namespace {

constexpr std::uint32_t kGroup = 8;
constexpr std::uint32_t kGroups = kLanes / kGroup;

// For each set of lanes a permutation of the bytes of eight words.
struct Permutations {
  alignas(64) std::uint8_t of[1 << kGroup][16];
};

constexpr std::uint8_t kNone = 0x80;

// The words of the lanes to the front.
constexpr Permutations kToFront = [] {
  Permutations all{};
  for (std::uint32_t lanes = 0; lanes < 1 << kGroup; ++lanes) {
    std::uint32_t next = 0;
    for (std::uint32_t lane = 0; lane < kGroup; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      all.of[lanes][next++] = static_cast<std::uint8_t>(2 * lane);
      all.of[lanes][next++] = static_cast<std::uint8_t>(2 * lane + 1);
    }
    while (next < 16) all.of[lanes][next++] = kNone;
  }
  return all;
}();

// The last words to the lanes.
constexpr Permutations kFromBack = [] {
  Permutations all{};
  for (std::uint32_t lanes = 0; lanes < 1 << kGroup; ++lanes) {
    std::uint32_t next = 16;
    for (std::uint32_t lane = kGroup; lane-- > 0;) {
      const bool takes = (lanes >> lane & 1) != 0;
      all.of[lanes][2 * lane + 1] = takes ? static_cast<std::uint8_t>(--next) : kNone;
      all.of[lanes][2 * lane] = takes ? static_cast<std::uint8_t>(--next) : kNone;
    }
  }
  return all;
}();

THINWIRE_AVX2 inline __m128i permutation(const Permutations& all, std::uint32_t lanes) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(all.of[lanes]));
}

THINWIRE_AVX2 inline std::uint32_t lanes_of(__m256i mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
}

struct Vectors {
  __m256i of[kGroups];
};

THINWIRE_AVX2 inline Vectors vectors_of(const States& states) {
  Vectors vectors;
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    vectors.of[group] =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states.data() + group * kGroup));
  }
  return vectors;
}

THINWIRE_AVX2 inline void put(const Vectors& vectors, States& states) {
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(states.data() + group * kGroup),
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
THINWIRE_AVX2 inline StepVectors steps_of(const std::byte* bytes, const Steps& steps) {
  const auto all = load<std::uint64_t>(bytes);
  const Step* const of = steps.of.data();
  const __m256 front =
      _mm256_castsi256_ps(_mm256_set_m128i(pair_of(of[all >> 32 & 0xff], of[all >> 40 & 0xff]),
                                           pair_of(of[all & 0xff], of[all >> 8 & 0xff])));
  const __m256 back =
      _mm256_castsi256_ps(_mm256_set_m128i(pair_of(of[all >> 48 & 0xff], of[all >> 56]),
                                           pair_of(of[all >> 16 & 0xff], of[all >> 24 & 0xff])));
  return {_mm256_castps_si256(_mm256_shuffle_ps(front, back, 0x88)),
          _mm256_castps_si256(_mm256_shuffle_ps(front, back, 0xdd))};
}

THINWIRE_AVX2 inline __m256i high_products(__m256i a, __m256i b) {
  const __m256i even = _mm256_mul_epu32(a, b);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

// gives_word() and taken() of eight lanes; returns where the words end.
THINWIRE_AVX2 inline std::byte* take_group(__m256i& state, const std::byte* bytes,
                                           const Steps& steps, std::byte* out) {
  const __m256i low_bits = _mm256_set1_epi32(0xfff);
  const StepVectors step = steps_of(bytes, steps);
  const __m256i frequency = _mm256_and_si256(step.packed, low_bits);
  const __m256i start = _mm256_and_si256(_mm256_srli_epi32(step.packed, 12), low_bits);
  const __m256i shift = _mm256_srli_epi32(step.packed, 24);
  const __m256i keeps = _mm256_cmpgt_epi32(frequency, _mm256_srli_epi32(state, 20));
  const std::uint32_t gives = lanes_of(keeps) ^ 0xff;
  const __m256i words = _mm256_and_si256(state, _mm256_set1_epi32(0xffff));
  const __m128i narrow =
      _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_shuffle_epi8(narrow, permutation(kToFront, gives)));
  const __m256i left = _mm256_blendv_epi8(_mm256_srli_epi32(state, 16), state, keeps);
  const __m256i quotient = _mm256_srlv_epi32(high_products(left, step.factor), shift);
  const __m256i others = _mm256_sub_epi32(_mm256_set1_epi32(kScale), frequency);
  state = _mm256_add_epi32(_mm256_add_epi32(left, start), _mm256_mullo_epi32(quotient, others));
  return out + 2 * static_cast<std::size_t>(_mm_popcnt_u32(gives));
}

THINWIRE_AVX2 std::byte* take_plane(States& states, ByteView plane, const Steps& steps,
                                    std::byte* out, const std::byte* end) {
  const std::size_t whole = plane.size() / kLanes * kLanes;
  Vectors own = vectors_of(states);
  for (std::size_t first = 0; first < whole; first += kLanes) {
#pragma GCC unroll 4
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      out = take_group(own.of[group], plane.data() + first + group * kGroup, steps, out);
    }
    if (out > end) return nullptr;
  }
  put(own, states);
  return portable_stepper().take_plane(states, plane.subspan(whole), steps, out, end);
}

// ---- Decoding ----

// The lowest bytes of 32 numbers, in order.
THINWIRE_AVX2 inline __m256i bytes_of(const Vectors& numbers) {
  const __m256i low_byte = _mm256_set1_epi32(0xff);
  const __m256i front = _mm256_packus_epi32(_mm256_and_si256(numbers.of[0], low_byte),
                                            _mm256_and_si256(numbers.of[1], low_byte));
  const __m256i back = _mm256_packus_epi32(_mm256_and_si256(numbers.of[2], low_byte),
                                           _mm256_and_si256(numbers.of[3], low_byte));
  // Packing takes the halves of vectors in turn.
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(front, back),
                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

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

// One step of all lanes; returns where the words that are left end.
THINWIRE_AVX2 inline const std::byte* give_back_step(Vectors& states, const Slots& slots,
                                                     const std::byte* next, std::byte* out) {
  Vectors slot, needs;
#pragma GCC unroll 4
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    __m256i& state = states.of[group];
    const __m256i remainder = _mm256_and_si256(state, _mm256_set1_epi32(kScale - 1));
    slot.of[group] =
        _mm256_set_m128i(four_of(slots.of.data(), _mm256_extracti128_si256(remainder, 1)),
                         four_of(slots.of.data(), _mm256_castsi256_si128(remainder)));
    const __m256i frequency =
        _mm256_and_si256(_mm256_srli_epi32(slot.of[group], 8), _mm256_set1_epi32(0xfff));
    state = _mm256_add_epi32(_mm256_mullo_epi32(frequency, _mm256_srli_epi32(state, kScaleBits)),
                             _mm256_srli_epi32(slot.of[group], 20));
    needs.of[group] = _mm256_cmpgt_epi32(_mm256_set1_epi32(kLeastState), state);
  }
#pragma GCC unroll 4
  for (std::uint32_t group = kGroups; group-- > 0;) {
    __m256i& state = states.of[group];
    const std::uint32_t lanes = lanes_of(needs.of[group]);
    // Eight are read always; those too many are states.
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(next - 16));
    const __m128i own = _mm_shuffle_epi8(words, permutation(kFromBack, lanes));
    const __m256i shift = _mm256_and_si256(needs.of[group], _mm256_set1_epi32(16));
    state = _mm256_or_si256(_mm256_sllv_epi32(state, shift), _mm256_cvtepu16_epi32(own));
    next -= 2 * static_cast<std::size_t>(_mm_popcnt_u32(lanes));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes_of(slot));
  return next;
}

THINWIRE_AVX2 bool give_back_plane(States& states, MutableByteView plane, const Slots& slots,
                                   ByteView& words) {
  const std::size_t whole = plane.size() / kLanes * kLanes;
  const bool is_enough =
      portable_stepper().give_back_plane(states, plane.subspan(whole), slots, words);
  if (!is_enough) return false;
  const std::byte* const begin = words.data();
  const std::byte* next = begin + words.size();
  Vectors own = vectors_of(states);
  for (std::size_t first = whole; first > 0; first -= kLanes) {
    next = give_back_step(own, slots, next, plane.data() + first - kLanes);
    if (next < begin) return false;
  }
  put(own, states);
  words = words.first(static_cast<std::size_t>(next - begin));
  return true;
}

constexpr Stepper kWide{take_plane, give_back_plane};

}  // namespace

const Stepper* wide_stepper() { return has_wide_vectors() ? &kWide : nullptr; }

}  // namespace thinwire::codec::ans

#else

namespace thinwire::codec::ans {

const Stepper* wide_stepper() { return nullptr; }

}  // namespace thinwire::codec::ans

#endif
