// Definitions of ans's bytes that both versions of payloads share: sizes, words, and the bytes of
// planes. Host and device code. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/word.h"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kMaxTuple = 32;
inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kStateBytes = 4 * kLanes;
inline constexpr std::uint32_t kMostTableBytes = 2 + 3 * 64;

template <typename Word>
inline constexpr Word kInner = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1 & ~Word{1});

// fold() takes a difference of two words whose lowest bits are signs. Its highest bit says whether
// the signs differ; the bits below have the rest of the difference as a number that is small if the
// rest is near 0, from above or below. unfold() is its inverse.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word fold(Word difference) {
  constexpr int kTop = kWordBits<Word> - 1;
  const Word negative = static_cast<Word>(0 - (difference >> kTop));
  const Word between = static_cast<Word>((difference ^ negative) & kInner<Word>);
  return static_cast<Word>(between | static_cast<Word>(difference << kTop) | (negative & 1));
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word unfold(Word folded) {
  constexpr int kTop = kWordBits<Word> - 1;
  const Word negative = static_cast<Word>(0 - (folded & 1));
  const Word between = static_cast<Word>((folded ^ negative) & kInner<Word>);
  return static_cast<Word>(between | static_cast<Word>(folded << kTop) | (folded >> kTop));
}

// byte_of() is the byte of a word that plane `plane` has, plane 0 the highest one; word_of() is a
// word that has this byte there and zeros elsewhere.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint8_t byte_of(Word word, std::uint32_t plane) {
  return static_cast<std::uint8_t>(word >> (8 * (sizeof(Word) - 1 - plane)));
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word word_of(std::uint8_t byte, std::uint32_t plane) {
  return static_cast<Word>(static_cast<Word>(byte) << (8 * (sizeof(Word) - 1 - plane)));
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t filled(std::uint32_t bytes) {
  return (bytes + 3) / 4 * 4;
}

}  // namespace thinwire::codec::ans
