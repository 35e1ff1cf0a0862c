// 64-bit FNV-1a: numbers of texts and bytes that ranks and processes compare, alike on every
// machine. Not for what somebody may forge.
#pragma once

#include <cstdint>

namespace thinwire {

// Hashes a range of bytes or characters; `so_far` is the hash of those before them.
template <typename Bytes>
constexpr std::uint64_t hash_of(const Bytes& bytes, std::uint64_t so_far = 0xCBF29CE484222325U) {
  for (const auto byte : bytes) {
    so_far = (so_far ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return so_far;
}

}  // namespace thinwire
