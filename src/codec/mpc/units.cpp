#include "codec/mpc/units.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/vector_units.h"
#include "codec/mpc/core.h"

namespace thinwire::codec::mpc {
namespace {

template <typename Word>
struct Unit {
  static constexpr int kRows = kWordBits<Word>;
  static constexpr int kGroups = kUnitValues / kRows;
  using Row = Word[kGroups];

  alignas(64) Row rows[kRows];  // word L of group g is rows[L][g]
  alignas(64) Word values[kUnitValues];
  alignas(64) Row present;
};

// ---- Stages on rows ----

template <int kWidth, typename Word>
void exchange_rows(Unit<Word>& unit) {
  constexpr Word kMask = static_cast<Word>(~Word{0}) / static_cast<Word>((Word{1} << kWidth) + 1);
  for (int square = 0; square < Unit<Word>::kRows; square += 2 * kWidth) {
    for (int row = square; row < square + kWidth; ++row) {
      Word* const low = unit.rows[row];
      Word* const high = unit.rows[row + kWidth];
      for (int g = 0; g < Unit<Word>::kGroups; ++g) {
        const Word moved = static_cast<Word>((low[g] >> kWidth) ^ high[g]) & kMask;
        high[g] ^= moved;
        low[g] ^= static_cast<Word>(moved << kWidth);
      }
    }
  }
}

template <typename Word>
void transpose(Unit<Word>& unit) {
  if constexpr (sizeof(Word) == 8) exchange_rows<32>(unit);
  exchange_rows<16>(unit);
  exchange_rows<8>(unit);
  exchange_rows<4>(unit);
  exchange_rows<2>(unit);
  exchange_rows<1>(unit);
}

// Every word less the one before it: the row above, and for the first row the last of the group
// before.
template <typename Word>
void subtract_neighbours(Unit<Word>& unit) {
  constexpr int kRows = Unit<Word>::kRows, kGroups = Unit<Word>::kGroups;
  Word before[kGroups] = {};
  std::copy(unit.rows[kRows - 1], unit.rows[kRows - 1] + kGroups - 1, before + 1);
  for (int row = kRows - 1; row > 0; --row) {
    for (int g = 0; g < kGroups; ++g) unit.rows[row][g] -= unit.rows[row - 1][g];
  }
  for (int g = 0; g < kGroups; ++g) unit.rows[0][g] -= before[g];
}

template <typename Word>
void add_up(Unit<Word>& unit) {
  constexpr int kRows = Unit<Word>::kRows, kGroups = Unit<Word>::kGroups;
  for (int row = 1; row < kRows; ++row) {
    for (int g = 0; g < kGroups; ++g) unit.rows[row][g] += unit.rows[row - 1][g];
  }
  Word before[kGroups];
  Word sum = 0;
  for (int g = 0; g < kGroups; ++g) {
    before[g] = sum;
    sum += unit.rows[kRows - 1][g];
  }
  for (int row = 0; row < kRows; ++row) {
    for (int g = 0; g < kGroups; ++g) unit.rows[row][g] += before[g];
  }
}

// ---- Values to rows and back ----

template <typename Word>
void load_unit(const std::byte* source, int count, int stride, Unit<Word>& unit) {
  std::memcpy(unit.values, source, static_cast<std::size_t>(count) * sizeof(Word));
  alignas(64) Word differences[kUnitValues];
  std::copy(unit.values, unit.values + stride, differences);
  for (int at = stride; at < kUnitValues; ++at) {
    differences[at] = unit.values[at] - unit.values[at - stride];
  }
  std::fill(differences + count, differences + kUnitValues, Word{0});
  constexpr int kRows = Unit<Word>::kRows;
  for (int row = 0; row < kRows; ++row) {
    for (int g = 0; g < Unit<Word>::kGroups; ++g) unit.rows[row][g] = differences[g * kRows + row];
  }
}

template <typename Word>
void store_unit(Unit<Word>& unit, int count, int stride, std::byte* out) {
  constexpr int kRows = Unit<Word>::kRows;
  for (int g = 0; g < Unit<Word>::kGroups; ++g) {
    for (int row = 0; row < kRows; ++row) unit.values[g * kRows + row] = unit.rows[row][g];
  }
  if (stride == 1) {
    Word sum = 0;
    for (int at = 0; at < kUnitValues; ++at) unit.values[at] = sum += unit.values[at];
  } else {
    for (int at = stride; at < kUnitValues; ++at) unit.values[at] += unit.values[at - stride];
  }
  std::memcpy(out, unit.values, static_cast<std::size_t>(count) * sizeof(Word));
}

// ---- Rows to bitmaps and words, and back ----

template <typename Word>
std::byte* pack(Unit<Word>& unit, int groups, std::byte*& bitmap, std::byte* next) {
  constexpr int kRows = Unit<Word>::kRows;
  std::fill(unit.present, unit.present + Unit<Word>::kGroups, Word{0});
  for (int row = 0; row < kRows; ++row) {
    for (int g = 0; g < Unit<Word>::kGroups; ++g) {
      unit.present[g] |= static_cast<Word>(unit.rows[row][g] != 0) << row;
    }
  }
  for (int g = 0; g < groups; ++g) {
    store(bitmap, unit.present[g]);
    bitmap += sizeof(Word);
    for (int row = 0; row < kRows; ++row) {
      // Written always, kept if not zero: no branch on the data.
      const Word word = unit.rows[row][g];
      store(next, word);
      next += word != 0 ? sizeof(Word) : 0;
    }
  }
  return next;
}

template <typename Word>
const std::byte* unpack(const std::byte*& bitmap, const std::byte* next, const std::byte* end,
                        int groups, Unit<Word>& unit) {
  constexpr int kRows = Unit<Word>::kRows;
  if (groups < Unit<Word>::kGroups) std::fill(&unit.rows[0][0], &unit.rows[0][0] + kUnitValues, 0);
  for (int g = 0; g < groups; ++g) {
    Word present = load<Word>(bitmap);
    bitmap += sizeof(Word);
    if (static_cast<std::size_t>(end - next) >= (kRows + 1) * sizeof(Word)) {
      for (int row = 0; row < kRows; ++row) {
        // Read always: there is a word.
        const Word bit = present >> row & 1;
        unit.rows[row][g] = load<Word>(next) & (Word{0} - bit);
        next += bit * sizeof(Word);
      }
      continue;
    }
    for (int row = 0; row < kRows; ++row) unit.rows[row][g] = 0;
    for (; present != 0; present &= present - 1) {
      unit.rows[std::countr_zero(present)][g] = load<Word>(next);
      next += sizeof(Word);
    }
  }
  return next;
}

// ---- All units ----

template <typename Word>
std::byte* encode_units(const std::byte* source, std::uint64_t values, int stride,
                        std::byte* bitmaps, std::byte* out) {
  Unit<Word> unit;
  for (std::uint64_t done = 0; done < values; done += kUnitValues) {
    const int count = static_cast<int>(std::min<std::uint64_t>(kUnitValues, values - done));
    load_unit(source + done * sizeof(Word), count, stride, unit);
    transpose(unit);
    subtract_neighbours(unit);
    out = pack(unit, unit_words<Word>(count) / kWordBits<Word>, bitmaps, out);
  }
  return out;
}

template <typename Word>
void decode_units(const std::byte* bitmaps, ByteView words, std::uint64_t values, int stride,
                  std::byte* out) {
  Unit<Word> unit;
  const std::byte* next = words.data();
  const std::byte* const end = next + words.size();
  for (std::uint64_t done = 0; done < values; done += kUnitValues) {
    const int count = static_cast<int>(std::min<std::uint64_t>(kUnitValues, values - done));
    next = unpack(bitmaps, next, end, unit_words<Word>(count) / kWordBits<Word>, unit);
    add_up(unit);
    transpose(unit);
    store_unit(unit, count, stride, out + done * sizeof(Word));
  }
}

}  // namespace

// Functions for each word, because vector clones are of functions, not of templates.
THINWIRE_VECTOR_CLONES std::byte* encode_f32(const std::byte* source, std::uint64_t values,
                                             int stride, std::byte* bitmaps, std::byte* out) {
  return encode_units<std::uint32_t>(source, values, stride, bitmaps, out);
}
THINWIRE_VECTOR_CLONES std::byte* encode_f64(const std::byte* source, std::uint64_t values,
                                             int stride, std::byte* bitmaps, std::byte* out) {
  return encode_units<std::uint64_t>(source, values, stride, bitmaps, out);
}
THINWIRE_VECTOR_CLONES void decode_f32(const std::byte* bitmaps, ByteView words,
                                       std::uint64_t values, int stride, std::byte* out) {
  decode_units<std::uint32_t>(bitmaps, words, values, stride, out);
}
THINWIRE_VECTOR_CLONES void decode_f64(const std::byte* bitmaps, ByteView words,
                                       std::uint64_t values, int stride, std::byte* out) {
  decode_units<std::uint64_t>(bitmaps, words, values, stride, out);
}

}  // namespace thinwire::codec::mpc
