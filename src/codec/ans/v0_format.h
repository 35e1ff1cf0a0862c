// Definitions of the bytes of a chunk of version 0, which has one stream of words. Host and device
// code. A decoder reads a payload in the order of spec/codec-ans.md: head, tables, stored planes,
// states, words.
#pragma once

#include <cstdint>

#include "codec/ans/format.h"

namespace thinwire::codec::ans::v0 {

inline constexpr std::uint32_t kChunkBytes = 16384;
inline constexpr std::uint32_t kHeadBytes = 8;
inline constexpr std::uint32_t kMostWords = 8064;

template <typename Word>
inline constexpr std::uint32_t kChunkValues = kChunkBytes / (sizeof(Word) == 1 ? 2 : sizeof(Word));

struct Head {
  std::uint32_t words;  // of 16 bits
  std::uint32_t kept;   // bytes of every plane but the first
  std::uint32_t coded;  // a bit for each plane
  bool is_sparse;
};

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

}  // namespace thinwire::codec::ans::v0
