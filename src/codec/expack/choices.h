// The choices of an encoder: kinds, mask, dictionary. Host and device code.
#pragma once

#include "codec/expack/core.h"

namespace thinwire::codec::expack {

// Chooses whether a stretch of `values` values, `zeros` of them with the exponent 0, has a kind
// with zeros.
THINWIRE_HOST_DEVICE constexpr bool takes_zeros(std::uint32_t zeros, std::uint32_t values) {
  return 16 * zeros >= values;
}

// Whether it has an entropy kind, if its codes would be so many.
THINWIRE_HOST_DEVICE constexpr bool takes_entropy(std::uint64_t mode, std::uint32_t values,
                                                  std::uint32_t outer_codes,
                                                  std::uint32_t raw_exponents,
                                                  std::uint32_t raw_if_fixed) {
  if (mode == static_cast<std::uint64_t>(Mode::kFixed)) return false;
  if (mode == static_cast<std::uint64_t>(Mode::kEntropy)) return true;
  return 3 * outer_codes + 8 * raw_exponents < values + 8 * raw_if_fixed;
}

// Whether a chunk, `zeros` of whose values have no bit that is 1, has a mask.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr bool takes_mask(std::uint32_t zeros, std::uint32_t values) {
  return zeros * Format<kDtype>::kVerbatimBits >= values;
}

// Whether a mask may keep so many of a chunk's values: a payload has room for them then.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr bool may_be_kept(std::uint32_t kept, std::uint32_t values) {
  return kept > 0 && kept <= values && takes_mask<kDtype>(values - kept, values);
}

// Whether exponents are so much alike or so different that a dictionary may pay, by what their
// outer codes and raw exponents take otherwise.
THINWIRE_HOST_DEVICE constexpr bool may_have_dictionary(std::uint64_t mode, std::uint32_t rows,
                                                        std::uint32_t outer_bits,
                                                        std::uint32_t raw_exponents) {
  const std::uint32_t values = rows * kRowValues;
  const std::uint32_t bits = outer_bits + 8 * raw_exponents;
  return mode == static_cast<std::uint64_t>(Mode::kAuto) &&
         (2 * bits < values || 2 * bits > 3 * values);
}

// How wide the places of a dictionary are, and how many exponents are raw; kWidths if it does
// not pay.
struct DictionarySize {
  unsigned width;
  std::uint32_t raw_exponents;
};

// `most_frequent(n)` is how many of the values have one of the n most frequent exponents.
template <typename MostFrequent>
THINWIRE_HOST_DEVICE constexpr DictionarySize dictionary_size(std::uint32_t rows,
                                                              std::uint32_t outer_bits,
                                                              std::uint32_t raw_exponents,
                                                              const MostFrequent& most_frequent) {
  const std::uint32_t values = rows * kRowValues;
  std::uint32_t least = 2 * values + outer_bits + 8 * raw_exponents - 8 * kDictionarySize;
  DictionarySize size{kWidths, 0};
  for (unsigned width = 0; width < kWidths; ++width) {
    const std::uint32_t places = 1u << width;
    const std::uint32_t raw =
        most_frequent(places) == values ? 0 : values - most_frequent(places - 1);
    const std::uint32_t bits = width * values + 8 * raw;
    if (bits >= least) continue;
    least = bits;
    size = {width, raw};
  }
  return size;
}

}  // namespace thinwire::codec::expack
