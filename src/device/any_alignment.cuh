// Numbers at any address, their lowest byte first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::device {

template <typename Word>
__device__ bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) == 0;
}

// Byte by byte.
template <typename Word>
__device__ Word load_bytes(const std::byte* at) {
  Word word = 0;
  for (unsigned byte = 0; byte < sizeof(Word); ++byte) {
    word |= static_cast<Word>(static_cast<Word>(at[byte]) << (8 * byte));
  }
  return word;
}

template <typename Word>
__device__ void store_bytes(std::byte* at, Word word) {
  for (unsigned byte = 0; byte < sizeof(Word); ++byte) {
    at[byte] = static_cast<std::byte>(word >> (8 * byte));
  }
}

// Loads a number; in one access if the address is a multiple of its size.
template <typename Word>
__device__ Word load_value(const std::byte* at) {
  return is_aligned<Word>(at) ? *reinterpret_cast<const Word*>(at) : load_bytes<Word>(at);
}

template <typename Word>
__device__ void store_value(std::byte* at, Word word) {
  if (is_aligned<Word>(at)) {
    *reinterpret_cast<Word*>(at) = word;
  } else {
    store_bytes(at, word);
  }
}

}  // namespace thinwire::device
