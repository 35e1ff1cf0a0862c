// Bytes: views of memory, little-endian loads and stores at any alignment, multiples and hashes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace thinwire {

static_assert(std::endian::native == std::endian::little, "Thinwire's formats are little-endian");

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

template <typename T>
inline T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
inline void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

constexpr std::uint64_t ceil_div(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0);
}

// `bytes` up to the next multiple of 256, which lent memory and each part of it begin at.
constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) & ~std::uint64_t{255}; }

// 64-bit FNV-1a: numbers of texts and bytes that ranks and processes compare, alike on every
// machine. Not for what somebody may forge. Hashes a range of bytes or characters; `so_far` is the
// hash of those before them.
template <typename Bytes>
constexpr std::uint64_t hash_of(const Bytes& bytes, std::uint64_t so_far = 0xCBF29CE484222325U) {
  for (const auto byte : bytes) {
    so_far = (so_far ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return so_far;
}

}  // namespace thinwire
