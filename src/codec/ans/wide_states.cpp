// The groups of states.h, eight states a vector: by AVX2, where the processor that runs this
// has it.
#include "codec/ans/states.h"

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

// The numbers of eight bytes, so many bytes apart.
template <int kApart>
THINWIRE_AVX2 inline StepVectors steps_of(const std::byte* bytes, const Steps& steps) {
  const Step* const of = steps.of.data();
  const auto at = [&](int lane) -> const Step& {
    return of[static_cast<std::uint8_t>(bytes[kApart * lane])];
  };
  return vectors_of_steps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
}

// The lanes whose byte `place` of their four at `mask` is not 0.
THINWIRE_AVX2 inline __m256i lanes_there_at(const std::byte* mask, std::uint32_t place) {
  const __m256i fours = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask));
  const __m256i bytes = _mm256_and_si256(fours, _mm256_set1_epi32(0xff << (8 * place)));
  return _mm256_xor_si256(_mm256_cmpeq_epi32(bytes, _mm256_setzero_si256()), _mm256_set1_epi32(-1));
}

// Puts the words of eight lanes before `end`; returns where they begin.
THINWIRE_AVX2 inline std::byte* put_words(const Taken& taken, std::byte* end) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(end - 16),
                   _mm_shuffle_epi8(taken.words, permutation(kToBack, taken.lanes)));
  return end - 2 * static_cast<std::size_t>(_mm_popcnt_u32(taken.lanes));
}

// A quad of a mask a lane.
THINWIRE_AVX2 inline std::byte* take_quads(Vectors& states, const std::byte* quads,
                                           const Steps& steps, std::byte* end) {
  for (std::uint32_t eight = kVectors; eight-- > 0;) {
    const StepVectors own = steps_of<1>(quads + eight * kWide, steps);
    end = put_words(take_bytes<true>(states.of[eight], own, _mm256_setzero_si256()), end);
  }
  return end;
}

// Four bytes a lane.
template <bool kAll>
THINWIRE_AVX2 inline std::byte* take_line(Vectors& states, const std::byte* bytes,
                                          const std::byte* mask, const Steps& steps,
                                          std::byte* end) {
  for (std::uint32_t place = kOfLane; place-- > 0;) {
#pragma GCC unroll 4
    for (std::uint32_t number = 0; number < kVectors; ++number) {
      const std::uint32_t eight = kVectors - 1 - number;
      const std::uint32_t at = eight * kWide * kOfLane + place;
      const __m256i there =
          kAll ? _mm256_setzero_si256() : lanes_there_at(mask + at - place, place);
      const StepVectors own = steps_of<kOfLane>(bytes + at, steps);
      end = put_words(take_bytes<kAll>(states.of[eight], own, there), end);
    }
  }
  return end;
}

THINWIRE_AVX2 std::byte* take(States& states, const LinesToTake& lines, std::uint32_t first,
                              std::byte* end) {
  Vectors own = vectors_of(states);
  for (std::uint32_t number = lines.count; number-- > 0;) {
    const auto& line = lines.line[number];
    const std::byte* const bytes = line.bytes + first;
    end = line.masked ? take_line<false>(own, bytes, lines.mask + first, *line.numbers, end)
                      : take_line<true>(own, bytes, nullptr, *line.numbers, end);
  }
  if (lines.quads != nullptr) {
    end = take_quads(own, lines.quads + first / kOfLane, *lines.quad_numbers, end);
  }
  put(own, states);
  return end;
}

// One step of the lanes that are `there`, whose bytes go into `bytes` from bit 8 * place up;
// returns where the words that are left begin.
template <bool kAll>
THINWIRE_AVX2 inline const std::byte* give_step(Vectors& states, const Slots& slots, int place,
                                                const std::byte* mask, const std::byte* next,
                                                Vectors& bytes) {
  Vectors needs;
#pragma GCC unroll 4
  for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
    __m256i& state = states.of[eight];
    const __m256i slot = slots_of(state, slots);
    const __m256i before = given_back_by(state, slot);
    needs.of[eight] = _mm256_cmpgt_epi32(_mm256_set1_epi32(kLeastState), before);
    __m256i byte = _mm256_and_si256(slot, _mm256_set1_epi32(0xff));
    if constexpr (kAll) {
      state = before;
    } else {
      const __m256i there =
          lanes_there_at(mask + eight * kWide * kOfLane, static_cast<std::uint32_t>(place));
      needs.of[eight] = _mm256_and_si256(needs.of[eight], there);
      byte = _mm256_and_si256(byte, there);
      state = _mm256_blendv_epi8(state, before, there);
    }
    bytes.of[eight] =
        _mm256_or_si256(bytes.of[eight], _mm256_sll_epi32(byte, _mm_cvtsi32_si128(8 * place)));
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

template <bool kAll>
THINWIRE_AVX2 inline const std::byte* give_line(Vectors& states, const Slots& slots,
                                                const std::byte* mask, const std::byte* words,
                                                std::byte* out) {
  Vectors bytes;
  for (auto& eight : bytes.of) eight = _mm256_setzero_si256();
  for (int place = 0; place < static_cast<int>(kOfLane); ++place) {
    words = give_step<kAll>(states, slots, place, mask, words, bytes);
  }
  for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + eight * kWide * kOfLane), bytes.of[eight]);
  }
  return words;
}

// A quad of a mask a lane, whose bits become bytes at `mask`.
THINWIRE_AVX2 inline const std::byte* give_quads(Vectors& states, const Slots& slots,
                                                 const std::byte* words, std::byte* mask) {
  Vectors quads;
  for (auto& eight : quads.of) eight = _mm256_setzero_si256();
  words = give_step<true>(states, slots, 0, nullptr, words, quads);
  // Bit i of a number to bit 8 i.
  const __m256i spread = _mm256_set1_epi32(0x00204081), lowest = _mm256_set1_epi32(0x01010101);
  for (std::uint32_t eight = 0; eight < kVectors; ++eight) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(mask + eight * kWide * kOfLane),
                        _mm256_and_si256(_mm256_mullo_epi32(quads.of[eight], spread), lowest));
  }
  return words;
}

THINWIRE_AVX2 const std::byte* give(States& states, const LinesToGive& lines, std::uint32_t first,
                                    const std::byte* words) {
  Vectors own = vectors_of(states);
  if (lines.quads != nullptr) {
    words = give_quads(own, *lines.quad_numbers, words, lines.mask + first);
  }
  for (std::uint32_t number = 0; number < lines.count; ++number) {
    const auto& line = lines.line[number];
    std::byte* const out = line.bytes + first;
    words = line.masked ? give_line<false>(own, *line.numbers, lines.mask + first, words, out)
                        : give_line<true>(own, *line.numbers, nullptr, words, out);
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
