// cast's arithmetic: all that defines bytes and values. Host and device code; see
// spec/codec-cast.md.
#pragma once

#include <cstdint>

#include "codec/accumulate.h"

namespace thinwire::codec::cast {

// The payload of a whole chunk.
inline constexpr std::uint32_t kPayloadBytes = 16384;

// The parameter as it is packed.
struct Options {
  Dtype to = Dtype::kBf16;
  bool stochastic = false;
  std::uint32_t seed = 0;
};

constexpr std::uint64_t pack(const Options& options) {
  const std::uint64_t to = options.to == Dtype::kBf16 ? 0 : options.to == Dtype::kF16 ? 1 : 2;
  return to | std::uint64_t{options.stochastic} << 2 | std::uint64_t{options.seed} << 32;
}

// The options that a sound parameter stands for.
constexpr Options unpack(std::uint64_t parameter) {
  const std::uint64_t to = parameter & 3;
  return {.to = to == 0   ? Dtype::kBf16
                : to == 1 ? Dtype::kF16
                          : Dtype::kF32,
          .stochastic = (parameter >> 2 & 1) != 0,
          .seed = static_cast<std::uint32_t>(parameter >> 32)};
}

constexpr bool is_sound(std::uint64_t parameter) {
  if ((parameter & 3) == 3 || (parameter >> 3 & 0x1FFFFFFF) != 0) return false;
  return (parameter >> 2 & 1) != 0 || parameter >> 32 == 0;
}

constexpr std::uint32_t chunk_values(Dtype to) {
  return kPayloadBytes / static_cast<std::uint32_t>(dtype_size(to));
}

// The payload of a chunk of so many values.
constexpr std::uint32_t payload_bytes(Dtype to, std::uint32_t values) {
  return (values * static_cast<std::uint32_t>(dtype_size(to)) + 7) / 8 * 8;
}

// ---- One value ----

template <Dtype kDtype>
inline constexpr int kMantissaBits = kDtype == Dtype::kF64    ? 52
                                     : kDtype == Dtype::kF32  ? 23
                                     : kDtype == Dtype::kBf16 ? 7
                                                              : 10;
template <Dtype kDtype>
inline constexpr int kBias = kDtype == Dtype::kF64   ? 1023
                             : kDtype == Dtype::kF16 ? 15
                                                     : 127;

template <Dtype kDtype>
inline constexpr WordOf<kDtype> kSign =
    static_cast<WordOf<kDtype>>(WordOf<kDtype>{1} << (8 * dtype_size(kDtype) - 1));
template <Dtype kDtype>
inline constexpr WordOf<kDtype> kInfinity =
    static_cast<WordOf<kDtype>>(kSign<kDtype> - (WordOf<kDtype>{1} << kMantissaBits<kDtype>));

template <Dtype kDtype>
THINWIRE_HOST_DEVICE inline WordOf<kDtype> magnitude_of(WordOf<kDtype> bits) {
  return bits & static_cast<WordOf<kDtype>>(~kSign<kDtype>);
}

// Whether a finite value has become an infinity.
template <Dtype kFrom, Dtype kTo>
THINWIRE_HOST_DEVICE inline bool is_lost(WordOf<kFrom> bits, WordOf<kTo> narrow) {
  return magnitude_of<kTo>(narrow) == kInfinity<kTo> &&
         magnitude_of<kFrom>(bits) < kInfinity<kFrom>;
}

// The magnitude of a finite value, narrowed: `m` units at its place lose `dropped` low bits.
template <Dtype kFrom, Dtype kTo, bool kStochastic>
THINWIRE_HOST_DEVICE inline std::uint64_t narrow_magnitude(std::uint64_t bits,
                                                           std::uint32_t drawn) {
  constexpr int kBits = kMantissaBits<kFrom>, kKept = kMantissaBits<kTo>;
  const int exponent = static_cast<int>(bits >> kBits);
  std::uint64_t m = bits & ((std::uint64_t{1} << kBits) - 1);
  if (exponent > 0) m |= std::uint64_t{1} << kBits;
  int place = (exponent > 0 ? exponent : 1) - kBias<kFrom> + kBias<kTo>;
  int dropped = kBits - kKept;
  if (place < 1) {
    dropped += 1 - place;
    place = 1;
  }
  if (dropped > 62) return 0;
  if constexpr (kStochastic) {
    m += dropped >= 16 ? std::uint64_t{drawn} << (dropped - 16)
                       : std::uint64_t{drawn} >> (16 - dropped);
  } else {
    m += (std::uint64_t{1} << (dropped - 1)) - 1 + (m >> dropped & 1);
  }
  // A normal result has its leading bit in `m`, which is one of the exponent's.
  const std::uint64_t code = (m >> dropped) + (static_cast<std::uint64_t>(place - 1) << kKept);
  return code < kInfinity<kTo> ? code : kInfinity<kTo>;
}

// `drawn`: 16 bits, for stochastic rounding.
template <Dtype kFrom, Dtype kTo, bool kStochastic>
THINWIRE_HOST_DEVICE inline WordOf<kTo> narrow(WordOf<kFrom> bits, std::uint32_t drawn) {
  if constexpr (kFrom == Dtype::kF32 && !kStochastic) {
    return word_of<kTo>(float_of(bits));
  } else {
    const WordOf<kFrom> magnitude = magnitude_of<kFrom>(bits);
    if (magnitude > kInfinity<kFrom>) return nan_word<kTo>();
    const auto sign = static_cast<WordOf<kTo>>(bits == magnitude ? 0 : kSign<kTo>);
    if (magnitude == kInfinity<kFrom>) return sign | kInfinity<kTo>;
    return sign |
           static_cast<WordOf<kTo>>(narrow_magnitude<kFrom, kTo, kStochastic>(magnitude, drawn));
  }
}

template <Dtype kFrom, Dtype kTo>
THINWIRE_HOST_DEVICE inline WordOf<kFrom> widen(WordOf<kTo> bits) {
  if constexpr (kFrom == Dtype::kF32) {
    return bits_of(number_of<kTo>(bits));
  } else {
    if (magnitude_of<kTo>(bits) > kInfinity<kTo>) return nan_word<Dtype::kF64>();
    return bits_of(static_cast<double>(number_of<kTo>(bits)));
  }
}

}  // namespace thinwire::codec::cast
