#include <algorithm>

#include "base/vector_units.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"

namespace thinwire::codec::ans {
namespace {

template <typename Word>
using PieceWords = Words<Word, kPieceValues<Word>>;

// Rotated, and their differences.
template <typename Word>
void read(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
          PieceWords<Word>& words) {
  PieceWords<Word> rotated;
  Word* const to = tuple == 0 ? words.at() : rotated.at();
  for (std::uint32_t at = 0; at < values; ++at) {
    to[at] = sign_to_low(load<Word>(source + at * sizeof(Word)));
  }
  if (tuple == 0) return;
  std::fill_n(rotated.before, kMaxTuple, Word{0});
  const Word* const other = to - tuple;
  Word* const out = words.at();
  for (std::uint32_t at = 0; at < values; ++at) {
    out[at] = fold(static_cast<Word>(to[at] - other[at]));
  }
}

// Words of 0, and whether there are some, and no others whose highest byte is 0.
template <typename Word>
Zeros zeros_of(const Word* words, std::uint32_t values) {
  constexpr Word kFirstByte = static_cast<Word>(Word{1} << (kWordBits<Word> - 8));
  Word zeros = 0, others = 0;
  for (std::uint32_t at = 0; at < values; ++at) {
    const Word word = words[at];
    zeros = static_cast<Word>(zeros + (word == 0));
    others |= static_cast<Word>(static_cast<Word>(word - 1) < kFirstByte - 1);
  }
  const auto count = static_cast<std::uint32_t>(zeros);
  return {count, count != 0 && others == 0 && is_worth_packing(count, values)};
}

// Writes all planes of the words, `apart` bytes from one to the next.
template <typename Word>
void cut(const Word* words, std::uint32_t count, std::byte* out, std::uint32_t apart) {
  if constexpr (sizeof(Word) == 1) {
    for (std::uint32_t at = 0; at < count; ++at) out[at] = std::byte{words[at]};
  } else {
    using Half = HalfOf<Word>;
    alignas(64) Half high[kPieceValues<Word>], low[kPieceValues<Word>];
    for (std::uint32_t at = 0; at < count; ++at) {
      high[at] = static_cast<Half>(words[at] >> kWordBits<Half>);
      low[at] = static_cast<Half>(words[at]);
    }
    cut(high, count, out, apart);
    cut(low, count, out + sizeof(Half) * apart, apart);
  }
}

template <typename Word>
Zeros split_words(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                  std::byte* out, std::uint32_t apart) {
  PieceWords<Word> words;
  read(source, values, tuple, words);
  const Word* const at = words.at();
  cut(at, values, out, apart);
  if constexpr (sizeof(Word) == 1) return {};
  return zeros_of(at, values);
}

}  // namespace

// Clones are of functions, not of templates.
#define THINWIRE_WORD(Word, name)                                                                 \
  THINWIRE_VECTOR_CLONES static Zeros split_##name(const std::byte* source, std::uint32_t values, \
                                                   std::uint32_t tuple, std::byte* out,           \
                                                   std::uint32_t apart) {                         \
    return split_words<Word>(source, values, tuple, out, apart);                                  \
  }                                                                                               \
  template <>                                                                                     \
  Zeros split<Word>(const std::byte* source, std::uint32_t values, std::uint32_t tuple,           \
                    std::byte* out, std::uint32_t apart) {                                        \
    return split_##name(source, values, tuple, out, apart);                                       \
  }
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
