// Views of memory and little-endian loads and stores at any alignment.
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

}  // namespace thinwire
