// The steps of states.h, eight states a vector: by AVX2, where the processor that runs this has it.
#include "codec/ans/states.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "base/vector_units.h"
#include "codec/ans/wide.h"

namespace thinwire::codec::ans {
namespace {

// The words of the lanes to the front.
constexpr Permutations kToFront = [] {
  Permutations all{};
  for (std::uint32_t lanes = 0; lanes < 1 << kWide; ++lanes) {
    std::uint32_t next = 0;
    for (std::uint32_t lane = 0; lane < kWide; ++lane) {
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
  for (std::uint32_t lanes = 0; lanes < 1 << kWide; ++lanes) {
    std::uint32_t next = 16;
    for (std::uint32_t lane = kWide; lane-- > 0;) {
      const bool takes = (lanes >> lane & 1) != 0;
      all.of[lanes][2 * lane + 1] = takes ? static_cast<std::uint8_t>(--next) : kNone;
      all.of[lanes][2 * lane] = takes ? static_cast<std::uint8_t>(--next) : kNone;
    }
  }
  return all;
}();

// ---- Encoding ----

THINWIRE_AVX2 inline StepVectors steps_of(const std::byte* bytes, const Steps& steps) {
  const auto all = load<std::uint64_t>(bytes);
  const Step* const of = steps.of.data();
  return vectors_of_steps(of[all & 0xff], of[all >> 8 & 0xff], of[all >> 16 & 0xff],
                          of[all >> 24 & 0xff], of[all >> 32 & 0xff], of[all >> 40 & 0xff],
                          of[all >> 48 & 0xff], of[all >> 56]);
}

// Returns where the words end.
THINWIRE_AVX2 inline std::byte* take_group(__m256i& state, const std::byte* bytes,
                                           const Steps& steps, std::byte* out) {
  const Taken taken = take_bytes<true>(state, steps_of(bytes, steps), _mm256_setzero_si256());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_shuffle_epi8(taken.words, permutation(kToFront, taken.lanes)));
  return out + 2 * static_cast<std::size_t>(_mm_popcnt_u32(taken.lanes));
}

THINWIRE_AVX2 std::byte* take_plane(States& states, ByteView plane, const Steps& steps,
                                    std::byte* out, const std::byte* end) {
  const std::size_t whole = plane.size() / kLanes * kLanes;
  Vectors own = vectors_of(states);
  for (std::size_t first = 0; first < whole; first += kLanes) {
#pragma GCC unroll 4
    for (std::uint32_t group = 0; group < kVectors; ++group) {
      out = take_group(own.of[group], plane.data() + first + group * kWide, steps, out);
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

// One step of all lanes; returns where the words that are left end.
THINWIRE_AVX2 inline const std::byte* give_back_step(Vectors& states, const Slots& slots,
                                                     const std::byte* next, std::byte* out) {
  Vectors slot, needs;
#pragma GCC unroll 4
  for (std::uint32_t group = 0; group < kVectors; ++group) {
    __m256i& state = states.of[group];
    slot.of[group] = slots_of(state, slots);
    state = given_back_by(state, slot.of[group]);
    needs.of[group] = _mm256_cmpgt_epi32(_mm256_set1_epi32(kLeastState), state);
  }
#pragma GCC unroll 4
  for (std::uint32_t group = kVectors; group-- > 0;) {
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

constexpr Stepper kWideSteps{take_plane, give_back_plane};

}  // namespace

const Stepper* wide_stepper() { return has_wide_vectors() ? &kWideSteps : nullptr; }

}  // namespace thinwire::codec::ans

#else

namespace thinwire::codec::ans {

const Stepper* wide_stepper() { return nullptr; }

}  // namespace thinwire::codec::ans

#endif
