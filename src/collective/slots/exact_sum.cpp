// Exact sums of arrays in host memory: by doubles that lose nothing, and one by one if those do.
#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/float_mode.h"
#include "base/vector_units.h"
#include "collective/exact.h"
#include "collective/exact_pair.h"
#include "collective/slots/sum.h"

namespace thinwire::collective {
namespace {

// Values that are summed at a time, so that sums stay near the processor.
constexpr std::uint64_t kExactRun = 512;

template <Dtype kDtype>
NumberOf<kDtype> number_at(const Operands& arrays, int rank, std::uint64_t at,
                           NumberOf<kDtype> factor) {
  using Word = WordOf<kDtype>;
  return thinwire::number_of<kDtype>(load<Word>(arrays.at(rank) + at * sizeof(Word))) * factor;
}

template <Dtype kDtype>
WordOf<kDtype> total(const Operands& arrays, std::uint64_t at) {
  ExactTotal<kDtype> exact;
  for (int rank = 0; rank < arrays.count; ++rank) {
    const auto factor = static_cast<NumberOf<kDtype>>(arrays.factor_of(rank));
    exact.add(number_at<kDtype>(arrays, rank, at, factor));
  }
  return exact.rounded(arrays.divisor);
}

// Totals of a run of elements.
template <Dtype kDtype>
class ExactRun {
 public:
  void add(const Operands& arrays, int rank, std::uint64_t first, std::uint64_t values) {
    using Word = WordOf<kDtype>;
    const std::byte* const array = arrays.at(rank) + first * sizeof(Word);
    const auto factor = static_cast<NumberOf<kDtype>>(arrays.factor_of(rank));
    const auto number = [&](std::uint64_t at) -> double {
      return thinwire::number_of<kDtype>(load<Word>(array + at * sizeof(Word))) * factor;
    };
    if (rank == 0) {
      for (std::uint64_t at = 0; at < values; ++at) sums_[at] = number(at);
      std::fill_n(rests_.begin(), values, 0.0);
      std::fill_n(lost_.begin(), values, 0);
      return;
    }
    for (std::uint64_t at = 0; at < values; ++at) {
      PairTotal<kDtype>::add(number(at), sums_[at], rests_[at], lost_[at]);
    }
  }

  void finish(std::uint64_t values, std::uint32_t divisor, std::byte* to) {
    using Word = WordOf<kDtype>;
    if (divisor > 1) {
      for (std::uint64_t at = 0; at < values; ++at) {
        Word word;
        if (!mean_of_pair<kDtype>(sums_[at], rests_[at], divisor, word)) lost_[at] = 1;
        store(to + at * sizeof(Word), word);
      }
      return;
    }
    for (std::uint64_t at = 0; at < values; ++at) {
      store(to + at * sizeof(Word), word_of_pair<kDtype>(sums_[at], rests_[at]));
    }
  }

  bool has_lost(std::uint64_t values) const {
    std::uint64_t any = 0;
    for (std::uint64_t at = 0; at < values; ++at) any |= lost_[at];
    return any != 0;
  }
  bool is_lost(std::uint64_t at) const { return lost_[at] != 0; }

 private:
  std::array<double, kExactRun> sums_, rests_;
  std::array<std::uint64_t, kExactRun> lost_;
};

// Lost sums are found from the values before those are replaced: `to` may be one of the arrays.
template <Dtype kDtype>
void total_all(std::uint64_t count, const Operands& arrays, std::byte* to) {
  using Word = WordOf<kDtype>;
  ExactRun<kDtype> run;
  std::array<std::byte, kExactRun * sizeof(Word)> words;
  for (std::uint64_t first = 0; first < count; first += kExactRun) {
    const std::uint64_t values = std::min(kExactRun, count - first);
    for (int rank = 0; rank < arrays.count; ++rank) run.add(arrays, rank, first, values);
    run.finish(values, arrays.divisor, words.data());
    if (run.has_lost(values)) {
      for (std::uint64_t at = 0; at < values; ++at) {
        if (!run.is_lost(at)) continue;
        store(words.data() + at * sizeof(Word), total<kDtype>(arrays, first + at));
      }
    }
    std::copy_n(words.data(), values * sizeof(Word), to + first * sizeof(Word));
  }
}

// Clones cannot be templates.
#define THINWIRE_EXACT_SUM(dtype)                                                        \
  THINWIRE_VECTOR_CLONES void total_##dtype(std::uint64_t count, const Operands& arrays, \
                                            std::byte* to) {                             \
    total_all<Dtype::dtype>(count, arrays, to);                                          \
  }
THINWIRE_EXACT_SUM(kF32)
THINWIRE_EXACT_SUM(kF64)
THINWIRE_EXACT_SUM(kF16)
THINWIRE_EXACT_SUM(kBf16)

using ExactSums = void (*)(std::uint64_t, const Operands&, std::byte*);
constexpr std::array<ExactSums, kDtypeCount> kExactSums = {
    nullptr, total_kF32, total_kF64, total_kF16, total_kBf16, nullptr, nullptr};

}  // namespace

void sum_exactly(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to) {
  const DefaultFloatMode mode;
  kExactSums[static_cast<std::size_t>(dtype)](count, arrays, to);
}

}  // namespace thinwire::collective
