// Definitions of ans's bytes: sizes, the head of a payload, and words. Host and device code. A
// decoder reads a payload in the order of spec/codec-ans.md: head, tables, stored planes, states,
// words.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/word.h"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kMaxTuple = 32;
inline constexpr std::uint32_t kChunkBytes = 16384;
inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kHeadBytes = 8;
inline constexpr std::uint32_t kStateBytes = 4 * kLanes;
inline constexpr std::uint32_t kMostWords = 8064;
inline constexpr std::uint32_t kMostTableBytes = 2 + 3 * 64;
// Most bytes before a payload's words: head, a table for each of 8 planes and up to 4 bytes that
// fill the tables up, up to 4 that fill up each stored plane, states.
inline constexpr std::uint32_t kMostFrontBytes =
    kHeadBytes + 8 * kMostTableBytes + 4 + 8 * 4 + kStateBytes;

template <typename Word>
inline constexpr std::uint32_t kChunkValues = kChunkBytes / (sizeof(Word) == 1 ? 2 : sizeof(Word));

// ---- Head ----

struct Head {
  std::uint32_t words;  // of 16 bits
  std::uint32_t kept;   // bytes of every plane but the first
  std::uint32_t coded;  // a bit for each plane
  bool is_sparse;
};

THINWIRE_HOST_DEVICE constexpr std::uint64_t pack(const Head& head) {
  return std::uint64_t{head.is_sparse} << 40 | std::uint64_t{head.coded} << 32 |
         std::uint64_t{head.kept} << 16 | head.words;
}

THINWIRE_HOST_DEVICE constexpr Head unpack(std::uint64_t word) {
  return {.words = static_cast<std::uint32_t>(word & 0xffff),
          .kept = static_cast<std::uint32_t>(word >> 16 & 0xffff),
          .coded = static_cast<std::uint32_t>(word >> 32 & 0xff),
          .is_sparse = (word >> 40 & 1) != 0};
}

// Checks that a head, hostile or not, can be that of a chunk of so many values. Whether `kept` is
// right shows after the first plane has been decoded: it must be the number of its bytes that are
// not 0.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr bool is_sound(std::uint64_t word, std::uint32_t values) {
  const Head head = unpack(word);
  if (word >> 41 != 0 || head.coded >> sizeof(Word) != 0 || head.words > kMostWords) return false;
  if (!head.is_sparse) return head.kept == values;
  return sizeof(Word) > 1 && head.kept < values && (head.kept > 0 || head.coded < 2);
}

THINWIRE_HOST_DEVICE constexpr bool is_coded(const Head& head, std::uint32_t plane) {
  return (head.coded >> plane & 1) != 0;
}

// ---- Words ----

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
