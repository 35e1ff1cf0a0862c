#include "codec/ans/planes.h"

#include <algorithm>
#include <cstring>

namespace thinwire::codec::ans {
namespace {

template <typename Word>
struct Words {
  alignas(64) Word at[kChunkValues<Word>];
};

template <typename Word>
void read(const std::byte* source, std::uint32_t values, std::uint32_t tuple, Words<Word>& words) {
  std::memcpy(words.at, source, values * sizeof(Word));
  for (std::uint32_t at = 0; at < values; ++at) words.at[at] = sign_to_low(words.at[at]);
  if (tuple == 0) return;
  for (std::uint32_t at = values; at-- > tuple;) {
    words.at[at] = static_cast<Word>(words.at[at] - words.at[at - tuple]);
  }
  for (std::uint32_t at = 0; at < values; ++at) words.at[at] = fold(words.at[at]);
}

template <typename Word>
void write(Words<Word>& words, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  if (tuple != 0) {
    for (std::uint32_t at = 0; at < values; ++at) words.at[at] = unfold(words.at[at]);
    for (std::uint32_t at = tuple; at < values; ++at) {
      words.at[at] = static_cast<Word>(words.at[at] + words.at[at - tuple]);
    }
  }
  for (std::uint32_t at = 0; at < values; ++at) words.at[at] = sign_to_high(words.at[at]);
  std::memcpy(out, words.at, values * sizeof(Word));
}

// Of the first `count` words.
template <typename Word>
void cut(const Word* words, std::uint32_t count, std::uint32_t plane, std::byte* out) {
  for (std::uint32_t at = 0; at < count; ++at) out[at] = std::byte{byte_of(words[at], plane)};
}

}  // namespace

template <typename Word>
void split(const std::byte* source, std::uint32_t values, std::uint32_t tuple, Planes& planes) {
  Words<Word> words;
  read(source, values, tuple, words);
  std::uint32_t zeros = 0, zero_bytes = 0;
  for (std::uint32_t at = 0; at < values; ++at) {
    zeros += words.at[at] == 0;
    zero_bytes += byte_of(words.at[at], 0) == 0;
  }
  planes.values = values;
  planes.is_sparse = sizeof(Word) > 1 && zeros > 0 && zeros == zero_bytes;
  planes.kept = planes.is_sparse ? values - zeros : values;
  cut(words.at, values, 0, planes.bytes);
  if (planes.is_sparse) std::remove(words.at, words.at + values, Word{0});
  for (std::uint32_t plane = 1; plane < sizeof(Word); ++plane) {
    cut(words.at, planes.kept, plane, planes.of(plane).data());
  }
}

template <typename Word>
bool join(Planes& planes, std::uint32_t tuple, std::byte* out) {
  Words<Word> words;
  std::fill_n(words.at, planes.is_sparse ? planes.kept : planes.values, Word{0});
  for (std::uint32_t plane = 1; plane < sizeof(Word); ++plane) {
    const MutableByteView bytes = planes.of(plane);
    for (std::uint32_t at = 0; at < planes.kept; ++at) {
      words.at[at] |= word_of<Word>(static_cast<std::uint8_t>(bytes[at]), plane);
    }
  }
  const MutableByteView highest = planes.of(0);
  if (planes.is_sparse) {
    // From the end on, as words move up.
    std::uint32_t left = planes.kept;
    for (std::uint32_t at = planes.values; at-- > 0;) {
      const auto byte = static_cast<std::uint8_t>(highest[at]);
      if (byte != 0 && left == 0) return false;
      words.at[at] = byte == 0 ? Word{0} : words.at[--left] | word_of<Word>(byte, 0);
    }
    if (left != 0) return false;
  } else {
    for (std::uint32_t at = 0; at < planes.values; ++at) {
      words.at[at] |= word_of<Word>(static_cast<std::uint8_t>(highest[at]), 0);
    }
  }
  write(words, planes.values, tuple, out);
  return true;
}

#define THINWIRE_WORD(Word)                                                           \
  template void split<Word>(const std::byte*, std::uint32_t, std::uint32_t, Planes&); \
  template bool join<Word>(Planes&, std::uint32_t, std::byte*);
THINWIRE_WORD(std::uint8_t)
THINWIRE_WORD(std::uint16_t)
THINWIRE_WORD(std::uint32_t)
THINWIRE_WORD(std::uint64_t)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
