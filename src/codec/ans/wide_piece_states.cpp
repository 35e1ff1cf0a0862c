// The groups of piece_states.h, eight states a vector: by AVX2, where the processor that runs this
// has it.
#include "codec/ans/piece_states.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "base/vector_units.h"
#include "codec/ans/wide.h"

namespace thinwire::codec::ans {
namespace {

// The words of the lanes to the back, and the first words to the lanes.
constexpr Permutations kToBack = [] {
  Permutations all{};
  for (std::uint32_t lanes = 0; lanes < 1 << kWide; ++lanes) {
    std::uint32_t next = 16;
    for (std::uint32_t lane = kWide; lane-- > 0;) {
      if ((lanes >> lane & 1) == 0) continue;
      all.of[lanes][--next] = static_cast<std::uint8_t>(2 * lane + 1);
      all.of[lanes][--next] = static_cast<std::uint8_t>(2 * lane);
    }
    while (next > 0) all.of[lanes][--next] = kNone;
  }
  return all;
}();

constexpr Permutations kFromFront = [] {
  Permutations all{};
  for (std::uint32_t lanes = 0; lanes < 1 << kWide; ++lanes) {
    std::uint32_t next = 0;
    for (std::uint32_t lane = 0; lane < kWide; ++lane) {
      const bool takes = (lanes >> lane & 1) != 0;
      all.of[lanes][2 * lane] = takes ? static_cast<std::uint8_t>(next++) : kNone;
      all.of[lanes][2 * lane + 1] = takes ? static_cast<std::uint8_t>(next++) : kNone;
    }
  }
  return all;
}();

// The numbers of eight bytes, four bytes apart.
THINWIRE_AVX2 inline StepVectors steps_of(const std::byte* bytes, const Steps& steps) {
  const Step* const of = steps.of.data();
  const auto at = [&](int lane) -> const Step& {
    return of[static_cast<std::uint8_t>(bytes[kOfLane * lane])];
  };
  return vectors_of_steps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
}

THINWIRE_AVX2 inline std::byte* take_eight(__m256i& state, const std::byte* bytes,
                                           const Steps& steps, std::byte* end) {
  const Taken taken = take_bytes(state, steps_of(bytes, steps));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(end - 16),
                   _mm_shuffle_epi8(taken.words, permutation(kToBack, taken.lanes)));
  return end - 2 * static_cast<std::size_t>(_mm_popcnt_u32(taken.lanes));
}

THINWIRE_AVX2 std::byte* take(States& states, const LinesToTake& lines, std::uint32_t first,
                              std::byte* end) {
  Vectors own = vectors_of(states);
  for (std::uint32_t number = lines.count; number-- > 0;) {
    const auto& line = lines.line[number];
    for (std::uint32_t place = kOfLane; place-- > 0;) {
      const std::byte* const bytes = line.bytes + first + place;
#pragma GCC unroll 4
      for (std::uint32_t eight = kVectors; eight-- > 0;) {
        end = take_eight(own.of[eight], bytes + eight * kWide * kOfLane, *line.numbers, end);
      }
    }
  }
  put(own, states);
  return end;
}

// One step of all lanes, whose bytes go into `bytes` from bit 8 * kPlace up; returns where the
// words that are left begin.
template <int kPlace>
THINWIRE_AVX2 inline const std::byte* give_step(Vectors& states, const Slots& slots,
                                                const std::byte* next, Vectors& bytes) {
  Vectors needs;
#pragma GCC unroll 4
  for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
    __m256i& state = states.of[eight];
    const __m256i slot = slots_of(state, slots);
    state = given_back_by(state, slot);
    needs.of[eight] = _mm256_cmpgt_epi32(_mm256_set1_epi32(kLeastState), state);
    const __m256i byte = _mm256_and_si256(slot, _mm256_set1_epi32(0xff));
    bytes.of[eight] = _mm256_or_si256(bytes.of[eight], _mm256_slli_epi32(byte, 8 * kPlace));
  }
#pragma GCC unroll 4
  for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
    __m256i& state = states.of[eight];
    const std::uint32_t lanes = lanes_of(needs.of[eight]);
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(next));
    const __m128i own = _mm_shuffle_epi8(words, permutation(kFromFront, lanes));
    const __m256i shift = _mm256_and_si256(needs.of[eight], _mm256_set1_epi32(16));
    state = _mm256_or_si256(_mm256_sllv_epi32(state, shift), _mm256_cvtepu16_epi32(own));
    next += 2 * static_cast<std::size_t>(_mm_popcnt_u32(lanes));
  }
  return next;
}

THINWIRE_AVX2 const std::byte* give(States& states, const LinesToGive& lines, std::uint32_t first,
                                    const std::byte* words) {
  Vectors own = vectors_of(states);
  for (std::uint32_t number = 0; number < lines.count; ++number) {
    const auto& line = lines.line[number];
    Vectors bytes;
    for (auto& eight : bytes.of) eight = _mm256_setzero_si256();
    words = give_step<0>(own, *line.numbers, words, bytes);
    words = give_step<1>(own, *line.numbers, words, bytes);
    words = give_step<2>(own, *line.numbers, words, bytes);
    words = give_step<3>(own, *line.numbers, words, bytes);
    for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(line.bytes + first + eight * kWide * kOfLane),
          bytes.of[eight]);
    }
  }
  put(own, states);
  return words;
}

constexpr GroupStepper kWideGroups{take, give};

}  // namespace

const GroupStepper* wide_group_stepper() { return has_wide_vectors() ? &kWideGroups : nullptr; }

}  // namespace thinwire::codec::ans

#else

namespace thinwire::codec::ans {

const GroupStepper* wide_group_stepper() { return nullptr; }

}  // namespace thinwire::codec::ans

#endif
