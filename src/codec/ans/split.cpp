#include <algorithm>

#include "base/vector_units.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"

namespace thinwire::codec::ans {
namespace {

// Rotated, and their differences.
template <typename Word>
void read(const std::byte* source, std::uint32_t values, std::uint32_t tuple, Words<Word>& words) {
  Words<Word> rotated;
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

// Whether there are words of 0, and no others whose highest byte is 0.
template <typename Word>
bool is_sparse(const Word* words, std::uint32_t values) {
  constexpr Word kFirstByte = static_cast<Word>(Word{1} << (kWordBits<Word> - 8));
  Word zeros = 0, others = 0;
  for (std::uint32_t at = 0; at < values; ++at) {
    const Word word = words[at];
    zeros |= static_cast<Word>(word == 0);
    others |= static_cast<Word>(static_cast<Word>(word - 1) < kFirstByte - 1);
  }
  return zeros != 0 && others == 0;
}

// The words that are not 0; returns how many. No branch on the data.
template <typename Word>
std::uint32_t keep(const Word* words, std::uint32_t values, Word* kept) {
  std::uint32_t next = 0;
  for (std::uint32_t at = 0; at < values; ++at) {
    kept[next] = words[at];
    next += words[at] != 0;
  }
  return next;
}

// Writes all planes of the words, `apart` bytes from one to the next.
template <typename Word>
void cut(const Word* words, std::uint32_t count, std::byte* out, std::uint32_t apart) {
  if constexpr (sizeof(Word) == 1) {
    for (std::uint32_t at = 0; at < count; ++at) out[at] = std::byte{words[at]};
  } else {
    using Half = HalfOf<Word>;
    alignas(64) Half high[kChunkValues<Word>], low[kChunkValues<Word>];
    for (std::uint32_t at = 0; at < count; ++at) {
      high[at] = static_cast<Half>(words[at] >> kWordBits<Half>);
      low[at] = static_cast<Half>(words[at]);
    }
    cut(high, count, out, apart);
    cut(low, count, out + sizeof(Half) * apart, apart);
  }
}

template <typename Word>
void split_words(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                 Planes& planes) {
  Words<Word> words;
  read(source, values, tuple, words);
  const Word* const at = words.at();
  planes.values = values;
  planes.kept = values;
  planes.is_sparse = sizeof(Word) > 1 && is_sparse(at, values);
  if (!planes.is_sparse) return cut(at, values, planes.bytes, values);
  Words<Word> others;
  planes.kept = keep(at, values, others.at());
  // Their first plane is written where the last bytes of the chunk's own one belong.
  cut(others.at(), planes.kept, planes.bytes + values - planes.kept, planes.kept);
  for (std::uint32_t next = 0; next < values; ++next) {
    planes.bytes[next] = std::byte{byte_of(at[next], 0)};
  }
}

template <typename Word>
Kept split_all_words(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                     std::byte* out, std::uint32_t apart) {
  Words<Word> words;
  read(source, values, tuple, words);
  const Word* const at = words.at();
  cut(at, values, out, apart);
  if (sizeof(Word) == 1 || !is_sparse(at, values)) return {values, false};
  std::uint32_t kept = 0;
  for (std::uint32_t next = 0; next < values; ++next) kept += at[next] != 0;
  if (!is_worth_packing(values - kept, values)) return {values, false};
  return {kept, true};
}

}  // namespace

// Clones are of functions, not of templates.
#define THINWIRE_WORD(Word, name)                                                                \
  THINWIRE_VECTOR_CLONES static void split_##name(const std::byte* source, std::uint32_t values, \
                                                  std::uint32_t tuple, Planes& planes) {         \
    split_words<Word>(source, values, tuple, planes);                                            \
  }                                                                                              \
  template <>                                                                                    \
  void split<Word>(const std::byte* source, std::uint32_t values, std::uint32_t tuple,           \
                   Planes& planes) {                                                             \
    split_##name(source, values, tuple, planes);                                                 \
  }                                                                                              \
  THINWIRE_VECTOR_CLONES static Kept split_all_##name(const std::byte* source,                   \
                                                      std::uint32_t values, std::uint32_t tuple, \
                                                      std::byte* out, std::uint32_t apart) {     \
    return split_all_words<Word>(source, values, tuple, out, apart);                             \
  }                                                                                              \
  template <>                                                                                    \
  Kept split_all<Word>(const std::byte* source, std::uint32_t values, std::uint32_t tuple,       \
                       std::byte* out, std::uint32_t apart) {                                    \
    return split_all_##name(source, values, tuple, out, apart);                                  \
  }
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
