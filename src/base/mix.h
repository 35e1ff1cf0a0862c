// Numbers that all ranks make of the same numbers.
#pragma once

#include <cstdint>

namespace thinwire {

// 64-bit FNV-1a of some numbers, each taken as one unit; never 0.
template <typename... Numbers>
constexpr std::uint64_t mix_of(Numbers... numbers) {
  std::uint64_t so_far = 0xCBF29CE484222325U;
  ((so_far = (so_far ^ static_cast<std::uint64_t>(numbers)) * 0x100000001B3U), ...);
  return so_far | 1U;
}

}  // namespace thinwire
