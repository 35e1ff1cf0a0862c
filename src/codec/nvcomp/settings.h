// The parameter word of the codecs of nvCOMP; spec/codec-nvcomp.md.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace thinwire::codec::nvcomp {

inline constexpr int kLeastChunkLog = 12;
inline constexpr int kMostChunkLog = 20;
inline constexpr int kExponentBias = 2048;

struct Settings {
  int chunk_log = 0;
  int algorithm = 0;   // of Bitcomp: 0 default, 1 sparse
  bool lossy = false;  // then the quantisation step is 2^exponent
  int exponent = 0;
};

constexpr std::uint64_t pack(const Settings& settings) {
  const auto step = settings.lossy ? static_cast<std::uint64_t>(settings.exponent + kExponentBias)
                                   : std::uint64_t{0};
  return static_cast<std::uint64_t>(settings.chunk_log) |
         static_cast<std::uint64_t>(settings.algorithm) << 8 | step << 16;
}

constexpr Settings unpack(std::uint64_t parameter) {
  const auto step = static_cast<int>(parameter >> 16 & 0xFFFF);
  return {.chunk_log = static_cast<int>(parameter & 0xFF),
          .algorithm = static_cast<int>(parameter >> 8 & 0xFF),
          .lossy = step != 0,
          .exponent = step - kExponentBias};
}

// Exponents of the normal numbers of a type; a step must be one.
struct ExponentRange {
  int least;
  int most;
};

constexpr ExponentRange normal_exponents(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return {-14, 15};
    case Dtype::kF64:
      return {-1022, 1023};
    default:
      return {-126, 127};
  }
}

}  // namespace thinwire::codec::nvcomp
