// Numbers drawn for stochastic rounding: the same on host and device, by a seed and a value's
// place. See spec/codec-blockq.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec {

THINWIRE_HOST_DEVICE constexpr std::uint32_t mix(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t chunk_key(std::uint32_t seed, std::uint64_t chunk) {
  return mix(mix(seed ^ static_cast<std::uint32_t>(chunk >> 32)) ^
             static_cast<std::uint32_t>(chunk));
}

// For two values, one in each half.
THINWIRE_HOST_DEVICE constexpr std::uint32_t draw(std::uint32_t key, std::uint32_t pair) {
  return mix(key + (pair + 1) * 0x9E3779B9u);
}

// The 16 bits of a value, by its number in the chunk.
THINWIRE_HOST_DEVICE constexpr std::uint32_t drawn_for(std::uint32_t key, std::uint32_t value) {
  return draw(key, value / 2) >> value % 2 * 16 & 0xFFFF;
}

}  // namespace thinwire::codec
