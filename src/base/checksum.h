// The checksum of headers and chunks; defined in spec/frame.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/host_device.h"

namespace thinwire {

// 64-bit checksum of `bytes`. Guards against damage, not against forgery.
std::uint64_t checksum(ByteView bytes);

// Its arithmetic, for the host and the device. It is a sum of independent terms, one for each 8
// bytes, so that any number of threads may add theirs in any order, and pieces of one block may be
// added by different ones.

inline constexpr int kChecksumBlockBytes = 1024;
inline constexpr int kChecksumLanes = kChecksumBlockBytes / 8;
inline constexpr std::uint64_t kChecksumGolden = 0x9E3779B97F4A7C15u;

// The finaliser of SplitMix64.
THINWIRE_HOST_DEVICE constexpr std::uint64_t checksum_mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The key of the words at place `lane` of their block.
THINWIRE_HOST_DEVICE constexpr std::uint64_t checksum_key(std::uint64_t lane) {
  return (lane + 1) * kChecksumGolden;
}

THINWIRE_HOST_DEVICE constexpr std::uint64_t checksum_product(std::uint64_t word,
                                                              std::uint64_t key) {
  const std::uint64_t keyed = word ^ key;
  return (keyed & 0xFFFFFFFFu) * (keyed >> 32);
}

// The factor of a block's products.
THINWIRE_HOST_DEVICE constexpr std::uint64_t checksum_weight(std::uint64_t block) {
  return 2 * block + 1;
}

// The checksum of `bytes` bytes whose weighted products add up to `sum`.
THINWIRE_HOST_DEVICE constexpr std::uint64_t checksum_finish(std::uint64_t bytes,
                                                             std::uint64_t sum) {
  return checksum_mix(bytes + sum);
}

}  // namespace thinwire
