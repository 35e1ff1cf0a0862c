// How kernels cut arrays of words at any alignment: into units of 16 bytes if those are aligned,
// and what is left beside them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::collective {

inline constexpr std::uint64_t kUnitBytes = 16;

// `head` words, `units` units, `tail` words, of an array whose first byte has a certain address.
struct Units {
  std::uint64_t head, units, tail;
  bool at_odd_bytes;  // the words themselves are not aligned; all of them are the head
};

// Cuts two arrays alike; or one, if both addresses are its own.
inline Units cut_in_units(const void* first, const void* second, std::uint64_t word_bytes,
                          std::uint64_t count) {
  const auto a = reinterpret_cast<std::uintptr_t>(first);
  const auto b = reinterpret_cast<std::uintptr_t>(second);
  if ((a | b) % word_bytes != 0) return {count, 0, 0, true};
  if ((a ^ b) % kUnitBytes != 0) return {count, 0, 0, false};
  const std::uint64_t to_boundary = (kUnitBytes - a % kUnitBytes) % kUnitBytes / word_bytes;
  const std::uint64_t head = to_boundary < count ? to_boundary : count;
  const std::uint64_t in_unit = kUnitBytes / word_bytes;
  const std::uint64_t units = (count - head) / in_unit;
  return {head, units, count - head - units * in_unit, false};
}

// The bytes of a word at any address.
template <typename Word>
struct Loose {
  std::byte bytes[sizeof(Word)];
};

}  // namespace thinwire::collective
