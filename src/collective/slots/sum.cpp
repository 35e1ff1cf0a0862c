#include "collective/slots/sum.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/float_mode.h"
#include "base/vector_units.h"
#include "codec/accumulate.h"

namespace thinwire::collective {
namespace {

// Values that are summed at a time, so that sums stay near the processor.
constexpr std::uint64_t kRun = 1024;

template <Dtype kDtype>
void sum(std::uint64_t count, const Operands& arrays, std::byte* to) {
  using Word = codec::WordOf<kDtype>;
  using Number = codec::NumberOf<kDtype>;
  std::array<Number, kRun> sums;
  for (std::uint64_t first = 0; first < count; first += kRun) {
    const std::uint64_t values = std::min(kRun, count - first);
    for (int rank = 0; rank < arrays.count; ++rank) {
      const std::byte* const array = arrays.at(rank) + first * sizeof(Word);
      const auto factor = static_cast<Number>(arrays.factor_of(rank));
      const auto number = [&](std::uint64_t at) {
        return codec::number_of<kDtype>(load<Word>(array + at * sizeof(Word))) * factor;
      };
      if (rank == 0) {
        for (std::uint64_t at = 0; at < values; ++at) sums[at] = number(at);
      } else {
        for (std::uint64_t at = 0; at < values; ++at) sums[at] += number(at);
      }
    }
    for (std::uint64_t at = 0; at < values; ++at) {
      store(to + (first + at) * sizeof(Word), codec::word_of<kDtype>(sums[at]));
    }
  }
}

// Clones cannot be templates.
#define THINWIRE_SUM(dtype)                                                            \
  THINWIRE_VECTOR_CLONES void sum_##dtype(std::uint64_t count, const Operands& arrays, \
                                          std::byte* to) {                             \
    sum<Dtype::dtype>(count, arrays, to);                                              \
  }
THINWIRE_SUM(kF32)
THINWIRE_SUM(kF64)
THINWIRE_SUM(kF16)
THINWIRE_SUM(kBf16)

using Sum = void (*)(std::uint64_t, const Operands&, std::byte*);
constexpr std::array<Sum, kDtypeCount> kSums = {nullptr,   sum_kF32, sum_kF64, sum_kF16,
                                                sum_kBf16, nullptr,  nullptr};

}  // namespace

void sum_in_order(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to) {
  const DefaultFloatMode mode;
  kSums[static_cast<std::size_t>(dtype)](count, arrays, to);
}

}  // namespace thinwire::collective
