// blockq's options, packed in its parameter, and the sizes that follow from them; see
// spec/codec-blockq.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::blockq {

inline constexpr std::uint32_t kChunkValues = 8192;
inline constexpr int kMostBlockValues = 128;

enum class Element : std::uint8_t { kInt8 = 0, kInt4 = 1, kE4m3 = 2 };

struct Options {
  Element element = Element::kInt8;
  std::uint32_t block = 32;   // values
  bool power_of_two = false;  // E8M0 scales, else bf16
  bool rotated = false;
  bool stochastic = false;
  std::uint32_t seed = 0;

  THINWIRE_HOST_DEVICE std::uint32_t element_bits() const {
    return element == Element::kInt4 ? 4 : 8;
  }
  THINWIRE_HOST_DEVICE std::uint32_t scale_bytes() const { return power_of_two ? 1 : 2; }

  THINWIRE_HOST_DEVICE std::uint32_t blocks(std::uint32_t values) const {
    return (values + block - 1) / block;
  }
  THINWIRE_HOST_DEVICE std::uint32_t element_bytes(std::uint32_t values) const {
    return blocks(values) * block / 8 * element_bits();
  }
  THINWIRE_HOST_DEVICE std::uint32_t payload_bytes(std::uint32_t values) const {
    return (element_bytes(values) + blocks(values) * scale_bytes() + 7) / 8 * 8;
  }
};

constexpr std::uint64_t pack(const Options& options) {
  const std::uint64_t shift = options.block == 32 ? 0 : options.block == 64 ? 1 : 2;
  return static_cast<std::uint64_t>(options.element) | shift << 2 |
         std::uint64_t{options.power_of_two} << 4 | std::uint64_t{options.rotated} << 5 |
         std::uint64_t{options.stochastic} << 6 | std::uint64_t{options.seed} << 32;
}

// The options that a sound parameter stands for.
THINWIRE_HOST_DEVICE constexpr Options unpack(std::uint64_t parameter) {
  return {.element = static_cast<Element>(parameter & 3),
          .block = 32u << (parameter >> 2 & 3),
          .power_of_two = (parameter >> 4 & 1) != 0,
          .rotated = (parameter >> 5 & 1) != 0,
          .stochastic = (parameter >> 6 & 1) != 0,
          .seed = static_cast<std::uint32_t>(parameter >> 32)};
}

constexpr bool is_sound(std::uint64_t parameter) {
  if ((parameter & 3) == 3 || (parameter >> 2 & 3) == 3) return false;
  if ((parameter >> 7 & 0x1FFFFFF) != 0) return false;
  return (parameter >> 6 & 1) != 0 || parameter >> 32 == 0;
}

}  // namespace thinwire::codec::blockq
