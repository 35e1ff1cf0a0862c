// What an array's values are like, as integers of the same order: loops that vectorise.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/bytes.h"
#include "base/vector_clones.h"
#include "collective/ordered.h"
#include "collective/reduce.h"

namespace thinwire::collective {
namespace {

using codec::number_of;
using codec::WordOf;

template <Dtype kDtype>
double number_of_key(KeyOf<kDtype> key) {
  return number_of<kDtype>(word_of_key<kDtype>(key));
}

template <Dtype kDtype>
Statistics statistics_of(std::uint64_t count, const std::byte* values) {
  using Word = WordOf<kDtype>;
  using Key = KeyOf<kDtype>;
  constexpr Key kMost = kInfinityKey<kDtype>;
  constexpr Key kLeast = static_cast<Key>(-1 - kMost);
  Key least = kMost;
  Key most = kLeast;
  Key seen = 0;  // its sign: something was not finite
  for (std::uint64_t at = 0; at < count * sizeof(Word); at += sizeof(Word)) {
    const Key key = key_of<kDtype>(load<Word>(values + at));
    // All bits where the key is not that of a finite value, else none.
    const auto magnitude = static_cast<Key>(key ^ key >> (8 * sizeof(Key) - 1));
    const auto outside =
        static_cast<Key>(static_cast<Key>(kMost - 1 - magnitude) >> (8 * sizeof(Key) - 1));
    const auto low = static_cast<Key>((key & ~outside) | (kMost & outside));
    const auto high = static_cast<Key>((key & ~outside) | (kLeast & outside));
    least = low < least ? low : least;
    most = high > most ? high : most;
    seen = static_cast<Key>(seen | outside);
  }
  Statistics found{.least = 1, .most = 0, .largest = 0, .all_finite = seen == 0};
  if (most == kLeast) return found;
  found.least = number_of_key<kDtype>(least);
  found.most = number_of_key<kDtype>(most);
  found.largest = std::max(std::fabs(found.least), std::fabs(found.most));
  return found;
}

// Bits of a non-negative double, infinity for what cannot be compared: integers of the same order.
template <Dtype kDtype>
std::int64_t difference(WordOf<kDtype> a, WordOf<kDtype> b) {
  const double x = number_of<kDtype>(a);
  const double y = number_of<kDtype>(b);
  const auto bits = std::bit_cast<std::int64_t>(std::fabs(x - y));
  const auto most = bits < kInfinityKey<Dtype::kF64> ? bits : kInfinityKey<Dtype::kF64>;
  const bool is_same = (x == y) | ((x != x) & (y != y));
  return is_same ? 0 : most;
}

template <Dtype kDtype>
double largest_of(std::uint64_t count, const std::byte* a, const std::byte* b) {
  using Word = WordOf<kDtype>;
  std::int64_t most = 0;
  for (std::uint64_t at = 0; at < count * sizeof(Word); at += sizeof(Word)) {
    const std::int64_t gap = difference<kDtype>(load<Word>(a + at), load<Word>(b + at));
    most = gap > most ? gap : most;
  }
  return std::bit_cast<double>(most);
}

// Clones cannot be templates.
#define THINWIRE_STATISTICS(dtype)                                                       \
  THINWIRE_VECTOR_CLONES Statistics statistics_##dtype(std::uint64_t count,              \
                                                       const std::byte* values) {        \
    return statistics_of<Dtype::dtype>(count, values);                                   \
  }                                                                                      \
  THINWIRE_VECTOR_CLONES double largest_##dtype(std::uint64_t count, const std::byte* a, \
                                                const std::byte* b) {                    \
    return largest_of<Dtype::dtype>(count, a, b);                                        \
  }
THINWIRE_STATISTICS(kF32)
THINWIRE_STATISTICS(kF64)
THINWIRE_STATISTICS(kF16)
THINWIRE_STATISTICS(kBf16)

constexpr decltype(&statistics_kF32) kStatistics[kDtypeCount] = {
    nullptr, statistics_kF32, statistics_kF64, statistics_kF16, statistics_kBf16};
constexpr decltype(&largest_kF32) kLargest[kDtypeCount] = {nullptr, largest_kF32, largest_kF64,
                                                           largest_kF16, largest_kBf16};

}  // namespace

double Statistics::range() const {
  if (!(least < most)) return 0;
  return std::min(most - least, DBL_MAX);
}

Statistics statistics(Dtype dtype, std::uint64_t count, const std::byte* values) {
  return kStatistics[static_cast<std::size_t>(dtype)](count, values);
}

double largest_difference(Dtype dtype, std::uint64_t count, const std::byte* a,
                          const std::byte* b) {
  return kLargest[static_cast<std::size_t>(dtype)](count, a, b);
}

}  // namespace thinwire::collective
