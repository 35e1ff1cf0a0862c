#include "collective/reduce.h"

#include <array>

#include "base/bytes.h"
#include "base/vector_clones.h"
#include "collective/ordered.h"

namespace thinwire::collective {
namespace {

using codec::number_of;
using codec::word_of;
using codec::WordOf;

template <Dtype kDtype>
constexpr bool is_nan(KeyOf<kDtype> key) {
  return key > kInfinityKey<kDtype> || key < -1 - kInfinityKey<kDtype>;
}

// The lesser key or the greater one; a NaN in either is the result, made canonical.
template <Dtype kDtype, bool kLeast>
WordOf<kDtype> choose(WordOf<kDtype> there, WordOf<kDtype> value) {
  const KeyOf<kDtype> a = key_of<kDtype>(there);
  const KeyOf<kDtype> b = key_of<kDtype>(value);
  const KeyOf<kDtype> least = a < b ? a : b;
  const KeyOf<kDtype> most = a < b ? b : a;
  constexpr auto kNan =
      static_cast<WordOf<kDtype>>(kInfinityKey<kDtype> | (kInfinityKey<kDtype> >> 1));
  const bool has_nan = is_nan<kDtype>(least) || is_nan<kDtype>(most);
  return has_nan ? kNan : word_of_key<kDtype>(kLeast ? least : most);
}

template <Dtype kDtype, Reduction kReduction>
WordOf<kDtype> combined(WordOf<kDtype> there, WordOf<kDtype> value) {
  if constexpr (kReduction == Reduction::kSum) {
    return word_of<kDtype>(number_of<kDtype>(there) + number_of<kDtype>(value));
  } else if constexpr (kReduction == Reduction::kProduct) {
    return word_of<kDtype>(number_of<kDtype>(there) * number_of<kDtype>(value));
  } else {
    return choose < kDtype, kReduction == Reduction::kMinimum > (there, value);
  }
}

template <Dtype kDtype, Reduction kReduction>
void combine_arrays(std::uint64_t count, std::byte* into, const std::byte* from) {
  using Word = WordOf<kDtype>;
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
#define THINWIRE_COMBINE_ROW(reduction)                                                         \
  {nullptr, combine_##reduction##_kF32, combine_##reduction##_kF64, combine_##reduction##_kF16, \
   combine_##reduction##_kBf16}

THINWIRE_COMBINE_ALL(kSum)
THINWIRE_COMBINE_ALL(kProduct)
THINWIRE_COMBINE_ALL(kMinimum)
THINWIRE_COMBINE_ALL(kMaximum)

using Row = std::array<Combine, kDtypeCount>;
constexpr std::array<Row, plan::kReductionCount> kCombines = {
    Row THINWIRE_COMBINE_ROW(kSum), Row THINWIRE_COMBINE_ROW(kProduct),
    Row THINWIRE_COMBINE_ROW(kMinimum), Row THINWIRE_COMBINE_ROW(kMaximum)};

}  // namespace

void combine(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
             const std::byte* from) {
  const Row& row = kCombines[static_cast<std::size_t>(reduction)];
  row[static_cast<std::size_t>(dtype)](count, into, from);
}

}  // namespace thinwire::collective
