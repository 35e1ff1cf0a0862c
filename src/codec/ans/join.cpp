#include "base/vector_units.h"
#include "codec/ans/planes.h"
#include "codec/ans/sums.h"
#include "codec/ans/v0_format.h"

namespace thinwire::codec::ans {
namespace {

using Places = std::array<const std::byte*, 8>;

// Enough for a piece, and for a chunk of version 0.
template <typename Word>
using MostWords = Words<Word, v0::kChunkValues<Word>>;

// The word of the bytes of planes from kPlane on, those before kFirst as 0.
template <typename Word, std::uint32_t kPlane, std::uint32_t kFirst>
Word word_at(const Places& places, std::uint32_t at) {
  if constexpr (sizeof(Word) == 1) {
    return kPlane < kFirst ? Word{0} : static_cast<Word>(places[kPlane][at]);
  } else {
    using Half = HalfOf<Word>;
    const Half high = word_at<Half, kPlane, kFirst>(places, at);
    const Half low = word_at<Half, kPlane + sizeof(Half), kFirst>(places, at);
    return static_cast<Word>(static_cast<Word>(high) << kWordBits<Half> | low);
  }
}

// The words of all planes, or of those from the plane 1 on.
template <std::uint32_t kFirst, typename Word>
void join_bytes(const Planes& planes, std::uint32_t count, Word* words) {
  const Places places = planes.place;
  for (std::uint32_t at = 0; at < count; ++at) words[at] = word_at<Word, 0, kFirst>(places, at);
}

// Fills the words of sparse values from its highest bytes and from `low`, the `kept` words that
// are not 0. False if another number of highest bytes is not 0.
template <typename Word>
bool spread(ByteView highest, const Word* low, std::uint32_t kept, Word* words) {
  std::uint32_t others = 0;
  for (const std::byte byte : highest) others += byte != std::byte{0};
  if (others != kept) return false;
  std::uint32_t next = 0;
  for (std::size_t at = 0; at < highest.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(highest[at]);
    const auto mask = static_cast<Word>(Word{0} - (byte != 0));
    words[at] = static_cast<Word>((low[next] | word_of<Word>(byte, 0)) & mask);
    next += byte != 0;
  }
  return true;
}

template <typename Word>
void write_values(const Word* words, std::uint32_t values, std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    store(out + at * sizeof(Word), sign_to_high(words[at]));
  }
}

template <typename Word>
void write(Word* words, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  if (tuple != 0) {
    for (std::uint32_t at = 0; at < values; ++at) words[at] = unfold(words[at]);
    add_up(words, values, tuple);
  }
  write_values(words, values, out);
}

template <typename Word>
bool join_words(const Planes& planes, std::uint32_t tuple, std::byte* out) {
  MostWords<Word> words;
  if (planes.is_sparse) {
    MostWords<Word> low;
    join_bytes<1>(planes, planes.kept, low.at());
    low.at()[planes.kept] = 0;  // read after all others are
    if (!spread({planes.place[0], planes.values}, low.at(), planes.kept, words.at())) return false;
  } else {
    join_bytes<0>(planes, planes.values, words.at());
  }
  write(words.at(), planes.values, tuple, out);
  return true;
}

}  // namespace

// Clones are of functions, not of templates.
#define THINWIRE_WORD(Word, name)                                                           \
  THINWIRE_VECTOR_CLONES static bool join_##name(const Planes& planes, std::uint32_t tuple, \
                                                 std::byte* out) {                          \
    return join_words<Word>(planes, tuple, out);                                            \
  }                                                                                         \
  template <>                                                                               \
  bool join<Word>(const Planes& planes, std::uint32_t tuple, std::byte* out) {              \
    return join_##name(planes, tuple, out);                                                 \
  }
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
