#include "collective/reduce.h"

#include <array>

#include "base/bytes.h"
#include "base/float_mode.h"
#include "base/vector_units.h"
#include "collective/combined.h"

namespace thinwire::collective {
namespace {

template <Dtype kDtype, Reduction kReduction>
void combine_arrays(std::uint64_t count, std::byte* into, const std::byte* from) {
  using Word = codec::WordOf<kDtype>;
  for (std::uint64_t at = 0; at < count * sizeof(Word); at += sizeof(Word)) {
    store(into + at, combined<kDtype, kReduction>(load<Word>(into + at), load<Word>(from + at)));
  }
}

using Combine = void (*)(std::uint64_t, std::byte*, const std::byte*);

// Clones cannot be templates.
#define THINWIRE_COMBINE(reduction, dtype)                                                        \
  THINWIRE_VECTOR_CLONES void combine_##reduction##_##dtype(std::uint64_t count, std::byte* into, \
                                                            const std::byte* from) {              \
    combine_arrays<Dtype::dtype, Reduction::reduction>(count, into, from);                        \
  }
#define THINWIRE_COMBINE_ALL(reduction) \
  THINWIRE_COMBINE(reduction, kF32)     \
  THINWIRE_COMBINE(reduction, kF64)     \
  THINWIRE_COMBINE(reduction, kF16)     \
  THINWIRE_COMBINE(reduction, kBf16)
#define THINWIRE_COMBINE_ROW(reduction) \
  {nullptr,                             \
   combine_##reduction##_kF32,          \
   combine_##reduction##_kF64,          \
   combine_##reduction##_kF16,          \
   combine_##reduction##_kBf16,         \
   nullptr,                             \
   nullptr}

THINWIRE_COMBINE_ALL(kSum)
THINWIRE_COMBINE_ALL(kProduct)
THINWIRE_COMBINE_ALL(kMinimum)
THINWIRE_COMBINE_ALL(kMaximum)

using RowOfSums = std::array<Combine, kDtypeCount>;
constexpr std::array<RowOfSums, plan::kReductionCount> kCombines = {
    RowOfSums THINWIRE_COMBINE_ROW(kSum), RowOfSums THINWIRE_COMBINE_ROW(kProduct),
    RowOfSums THINWIRE_COMBINE_ROW(kMinimum), RowOfSums THINWIRE_COMBINE_ROW(kMaximum)};

}  // namespace

void combine(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
             const std::byte* from) {
  const DefaultFloatMode mode;
  const RowOfSums& row = kCombines[static_cast<std::size_t>(reduction)];
  row[static_cast<std::size_t>(dtype)](count, into, from);
}

}  // namespace thinwire::collective
