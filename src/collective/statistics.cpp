// Statistics of an array's values, as integers of the same order: loops that vectorise.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/float_mode.h"
#include "base/vector_units.h"
#include "collective/key_range.h"
#include "collective/reduce.h"

namespace thinwire::collective {
namespace {

using codec::number_of;
using codec::WordOf;

template <Dtype kDtype>
KeyRange key_range_of(std::uint64_t count, const std::byte* values) {
  using Word = WordOf<kDtype>;
  Seen<kDtype> seen;
  for (std::uint64_t at = 0; at < count * sizeof(Word); at += sizeof(Word)) {
    seen.take(load<Word>(values + at));
  }
  return KeyRange::of(seen);
}

template <Dtype kDtype>
double number_of_key(std::int64_t key) {
  return number_of<kDtype>(word_of_key<kDtype>(static_cast<KeyOf<kDtype>>(key)));
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
  THINWIRE_VECTOR_CLONES KeyRange key_range_##dtype(std::uint64_t count,                 \
                                                    const std::byte* values) {           \
    return key_range_of<Dtype::dtype>(count, values);                                    \
  }                                                                                      \
  THINWIRE_VECTOR_CLONES double largest_##dtype(std::uint64_t count, const std::byte* a, \
                                                const std::byte* b) {                    \
    return largest_of<Dtype::dtype>(count, a, b);                                        \
  }
THINWIRE_STATISTICS(kF32)
THINWIRE_STATISTICS(kF64)
THINWIRE_STATISTICS(kF16)
THINWIRE_STATISTICS(kBf16)

constexpr decltype(&key_range_kF32) kKeyRange[kDtypeCount] = {
    nullptr, key_range_kF32, key_range_kF64, key_range_kF16, key_range_kBf16, nullptr, nullptr};
constexpr decltype(&number_of_key<Dtype::kF32>) kNumberOfKey[kDtypeCount] = {
    nullptr,
    number_of_key<Dtype::kF32>,
    number_of_key<Dtype::kF64>,
    number_of_key<Dtype::kF16>,
    number_of_key<Dtype::kBf16>,
    nullptr,
    nullptr};
constexpr decltype(&largest_kF32) kLargest[kDtypeCount] = {
    nullptr, largest_kF32, largest_kF64, largest_kF16, largest_kBf16, nullptr, nullptr};

}  // namespace

double Statistics::range() const {
  const DefaultFloatMode mode;
  if (!(least < most)) return 0;
  return std::min(most - least, DBL_MAX);
}

Statistics statistics(Dtype dtype, const KeyRange& range) {
  const DefaultFloatMode mode;
  Statistics found{.least = 1, .most = 0, .largest = 0, .all_finite = range.outside >= 0};
  if (range.most < range.least) return found;
  const auto number_of_key = kNumberOfKey[static_cast<std::size_t>(dtype)];
  found.least = number_of_key(range.least);
  found.most = number_of_key(range.most);
  found.largest = std::max(std::fabs(found.least), std::fabs(found.most));
  return found;
}

KeyRange key_range(Dtype dtype, std::uint64_t count, const std::byte* values) {
  return kKeyRange[static_cast<std::size_t>(dtype)](count, values);
}

Statistics statistics(Dtype dtype, std::uint64_t count, const std::byte* values) {
  return statistics(dtype, key_range(dtype, count, values));
}

double largest_difference(Dtype dtype, std::uint64_t count, const std::byte* a,
                          const std::byte* b) {
  if (!is_added(dtype)) {
    const std::uint64_t bytes = count * dtype_size(dtype);
    return std::equal(a, a + bytes, b) ? 0 : std::numeric_limits<double>::infinity();
  }
  const DefaultFloatMode mode;
  return kLargest[static_cast<std::size_t>(dtype)](count, a, b);
}

}  // namespace thinwire::collective
