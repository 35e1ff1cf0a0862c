// Numbers that all ranks make of the same numbers.
#pragma once

#include <cstdint>

namespace thinwire::nccl::agree {

// 64-bit FNV-1a of some numbers, each taken as one unit; never 0.
template <typename... Numbers>
std::uint64_t mix_of(Numbers... numbers) {
  std::uint64_t name = 0xCBF29CE484222325U;
  ((name = (name ^ static_cast<std::uint64_t>(numbers)) * 0x100000001B3U), ...);
  return name | 1U;
}

}  // namespace thinwire::nccl::agree
