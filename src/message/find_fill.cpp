#include "message/find_fill.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "base/numbers.h"
#include "message/apart.h"

namespace thinwire::message {
namespace {

// The position of the first word for which `is` holds; `count` if none.
template <typename Word, typename Is>
std::uint64_t first_of(const std::byte* values, std::uint64_t count, Is&& is) {
  constexpr std::uint64_t kAtOnce = 512;
  std::uint64_t at = 0;
  for (; at + kAtOnce <= count; at += kAtOnce) {
    unsigned any = 0;
    for (std::uint64_t each = at; each < at + kAtOnce; ++each) {
      any |= is(load<Word>(values + each * sizeof(Word))) ? 1 : 0;
    }
    if (any != 0) break;
  }
  while (at < count && !is(load<Word>(values + at * sizeof(Word)))) ++at;
  return at;
}

template <typename Word>
std::uint64_t times_of(const std::byte* values, std::uint64_t count, Word word) {
  std::uint64_t times = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    times += load<Word>(values + at * sizeof(Word)) == word ? 1 : 0;
  }
  return times;
}

template <Dtype kDtype>
std::optional<WordOf<kDtype>> find_value(double value, const std::byte* values,
                                         std::uint64_t count) {
  using Word = WordOf<kDtype>;
  const auto named = named_bits(value, kDtype);
  if (!named) return std::nullopt;
  const auto word = static_cast<Word>(*named);
  const bool is_there =
      first_of<Word>(values, count, [=](Word each) { return each == word; }) < count;
  return is_there ? std::optional(word) : std::nullopt;
}

template <Dtype kDtype>
std::optional<WordOf<kDtype>> find_nan(const std::byte* values, std::uint64_t count) {
  using F = FloatWordsOf<kDtype>;
  using Word = WordOf<kDtype>;
  const std::uint64_t at = first_of<Word>(values, count, [](Word each) {
    return static_cast<Word>(each & F::kMagnitude) > F::kInfinity;
  });
  if (at == count) return std::nullopt;
  return load<Word>(values + at * sizeof(Word));
}

// The most frequent of a few words; of equally frequent ones the first.
template <typename Word>
Word most_frequent(std::span<const Word> words, const std::byte* values, std::uint64_t count) {
  if (words.size() == 1) return words.front();
  Word best = 0;
  std::uint64_t most = 0;
  for (const Word word : words) {
    const std::uint64_t times = times_of(values, count, word);
    best = times > most ? word : best;
    most = std::max(times, most);
  }
  return best;
}

template <Dtype kDtype>
std::optional<WordOf<kDtype>> find_any(const std::byte* values, std::uint64_t count) {
  if constexpr (!has_magnitudes(kDtype)) {
    return find_nan<kDtype>(values, count);
  } else {
    using F = FloatWordsOf<kDtype>;
    const Extremes extremes = extremes_of(kDtype, values, count);
    const auto apart = find_apart<F>(values, count, extremes.largest);
    std::array<WordOf<kDtype>, kMostFills + 1> found{};
    std::size_t kinds = 0;
    if (apart.is_few && (apart.has_others || extremes.largest > F::kHigh)) {
      kinds = static_cast<std::size_t>(apart.kinds);
      std::copy_n(apart.kind, kinds, found.begin());
    }
    if (extremes.has_nan) found[kinds++] = *find_nan<kDtype>(values, count);
    if (kinds == 0) return std::nullopt;
    return most_frequent(std::span<const WordOf<kDtype>>(found).first(kinds), values, count);
  }
}

// The least and the largest of the finite values that are not missing, if there are two.
template <Dtype kDtype>
std::uint64_t ends_without(const std::byte* values, std::uint64_t count, WordOf<kDtype> fill,
                           std::byte* ends) {
  using Number = NumberOf<kDtype>;
  using Word = WordOf<kDtype>;
  constexpr Number kMost = std::numeric_limits<Number>::max();
  constexpr std::uint64_t kLanes = 32;  // each is a chain of comparisons that wait for one another
  std::array<Number, kLanes> least, most;
  least.fill(kMost);
  most.fill(-kMost);
  const auto take = [&](std::uint64_t at, std::uint64_t lane) {
    const auto word = load<Word>(values + at * sizeof(Word));
    const Number value = number_of<kDtype>(word);
    const bool counts = std::fabs(value) <= kMost && word != fill;
    const Number low = counts ? value : kMost, high = counts ? value : -kMost;
    least[lane] = low < least[lane] ? low : least[lane];
    most[lane] = high > most[lane] ? high : most[lane];
  };
  std::uint64_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) take(at + lane, lane);
  }
  for (; at < count; ++at) take(at, 0);
  const Number low = *std::ranges::min_element(least), high = *std::ranges::max_element(most);
  if (!(low <= high)) return 0;
  store(ends, word_of<kDtype>(low));
  store(ends + sizeof(Word), word_of<kDtype>(high));
  return 2;
}

}  // namespace

std::optional<std::uint64_t> named_bits(double value, Dtype dtype) {
  return with_float_dtype(dtype, [&](auto kDtype) -> std::optional<std::uint64_t> {
    constexpr double kMost = std::numeric_limits<NumberOf<kDtype>>::max();
    if (!std::isinf(value) && std::fabs(value) > kMost) return std::nullopt;
    return word_of<kDtype>(static_cast<NumberOf<kDtype>>(value));
  });
}

std::optional<std::uint64_t> find_fill(const codec::Fill& fill, const codec::Chunk& array,
                                       const std::byte* source) {
  using Kind = codec::Fill::Kind;
  if (!fill.exists() || !is_added(array.dtype)) return std::nullopt;
  const std::uint64_t count = array.shape.count();
  return with_float_dtype(array.dtype, [&](auto kDtype) -> std::optional<std::uint64_t> {
    std::optional<WordOf<kDtype>> found;
    if (fill.kind == Kind::kValue) found = find_value<kDtype>(fill.value, source, count);
    if (fill.kind == Kind::kNan) found = find_nan<kDtype>(source, count);
    if (fill.kind == Kind::kAuto) found = find_any<kDtype>(source, count);
    return found ? std::optional<std::uint64_t>(*found) : std::nullopt;
  });
}

std::uint64_t resolve_without(const Coder& coder, const codec::Chunk& array,
                              const std::byte* source, std::uint64_t fill) {
  // All that a range depends on.
  std::array<std::byte, 2 * sizeof(std::uint64_t)> ends;
  const std::uint64_t count = with_float_dtype(array.dtype, [&](auto kDtype) {
    return ends_without<kDtype>(source, array.shape.count(), static_cast<WordOf<kDtype>>(fill),
                                ends.data());
  });
  return coder.codec->resolve(ends.data(), {array.dtype, Shape::line(count)}, coder.parameter);
}

namespace {

// The number of the fewest digits that is that word when it is rounded to the type.
template <Dtype kDtype>
double shortest(WordOf<kDtype> word) {
  const auto value = static_cast<double>(number_of<kDtype>(word));
  for (int digits = 0; digits < std::numeric_limits<double>::max_digits10; ++digits) {
    std::array<char, 40> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::scientific, digits);
    double rounded = 0;
    std::from_chars(text.data(), end.ptr, rounded);
    if (word_of<kDtype>(static_cast<NumberOf<kDtype>>(rounded)) == word) return rounded;
  }
  return value;
}

}  // namespace

std::string fill_text(Dtype dtype, std::uint64_t fill) {
  const double value = with_float_dtype(
      dtype, [&](auto kDtype) { return shortest<kDtype>(static_cast<WordOf<kDtype>>(fill)); });
  if (std::isnan(value)) return codec::Fill{.kind = codec::Fill::Kind::kNan}.text();
  return codec::Fill{.kind = codec::Fill::Kind::kValue, .value = value}.text();
}

}  // namespace thinwire::message
