// Sizes in which pools keep memory: four to a power of two, so that at most a fifth lies unused.
#pragma once

#include <bit>
#include <cstdint>

namespace thinwire::device {

inline constexpr int kSmallestBits = 12;
inline constexpr int kSizeClasses = 4 * (56 - kSmallestBits);

// Bytes of a class: 4 KiB, 5 KiB, 6 KiB, 7 KiB, 8 KiB, 10 KiB, ...
constexpr std::uint64_t class_bytes(int size_class) {
  return static_cast<std::uint64_t>(4 + size_class % 4) << (kSmallestBits - 2 + size_class / 4);
}

// The smallest class that holds `bytes`; kSizeClasses if none does.
constexpr int class_of(std::uint64_t bytes) {
  if (bytes <= (std::uint64_t{1} << kSmallestBits)) return 0;
  const int exponent = std::bit_width(bytes - 1) - 1;
  if (exponent >= 56) return kSizeClasses;
  const auto quarter = static_cast<int>((bytes - 1) >> (exponent - 2)) & 3;
  const int size_class = 4 * (exponent - kSmallestBits) + quarter + 1;
  return size_class < kSizeClasses ? size_class : kSizeClasses;
}

}  // namespace thinwire::device
