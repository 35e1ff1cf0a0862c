// Reductions of arrays against the same done a value at a time, for every type and reduction.
#include "collective/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "../base/other_float_mode.h"
#include "base/bytes.h"
#include "codec/accumulate.h"

namespace thinwire::collective {
namespace {

using codec::number_of;
using codec::word_of;
using codec::WordOf;

template <Dtype kDtype>
constexpr WordOf<kDtype> kNan = kDtype == Dtype::kF64   ? 0x7FF8000000000000u
                                : kDtype == Dtype::kF32 ? 0x7FC00000u
                                : kDtype == Dtype::kF16 ? 0x7E00u
                                                        : 0x7FC0u;

template <Dtype kDtype>
WordOf<kDtype> expected(Reduction reduction, WordOf<kDtype> a, WordOf<kDtype> b) {
  const auto x = number_of<kDtype>(a);
  const auto y = number_of<kDtype>(b);
  if (std::isnan(x) || std::isnan(y)) return kNan<kDtype>;
  if (reduction == Reduction::kSum) return word_of<kDtype>(x + y);
  if (reduction == Reduction::kProduct) return word_of<kDtype>(x * y);
  const bool a_is_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return (reduction == Reduction::kMinimum) == a_is_less ? a : b;
}

// Patterns of all kinds: any bits, small integers, and every special value beside every other.
template <Dtype kDtype>
std::vector<WordOf<kDtype>> patterns(std::size_t count, unsigned seed) {
  using Word = WordOf<kDtype>;
  std::mt19937_64 random(seed);
  const Word infinity = static_cast<Word>(kNan<kDtype> & (kNan<kDtype> << 1));
  std::vector<Word> words(count);
  for (Word& word : words) {
    const auto kind = random() % 8;
    const auto sign = static_cast<Word>(random() << (8 * sizeof(Word) - 1));
    word = kind < 4    ? static_cast<Word>(random())
           : kind == 4 ? word_of<kDtype>(static_cast<float>(static_cast<int>(random() % 7) - 3))
           : kind == 5 ? sign
           : kind == 6 ? static_cast<Word>(sign | kNan<kDtype> | (random() & 15))
                       : static_cast<Word>(sign | infinity);
  }
  return words;
}

template <Dtype kDtype>
void check(Reduction reduction, std::size_t count, std::size_t offset) {
  using Word = WordOf<kDtype>;
  // One more than are used: no array without an address.
  const auto a = patterns<kDtype>(count + 1, 1);
  const auto b = patterns<kDtype>(count + 1, 2);
  // Whole arrays and canaries around them, at an odd address.
  const std::size_t bytes = count * sizeof(Word);
  std::vector<std::byte> into(bytes + 64, std::byte{0xA5});
  std::vector<std::byte> from(bytes + 64);
  std::memcpy(into.data() + offset, a.data(), bytes);
  std::memcpy(from.data() + offset, b.data(), bytes);
  std::vector<std::byte> other = from;
  {
    const OtherFloatMode mode;  // the program's, which is not to count
    combine(reduction, kDtype, count, into.data() + offset, from.data() + offset);
  }
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto found = load<Word>(into.data() + offset + at * sizeof(Word));
    wrong += found != expected<kDtype>(reduction, a[at], b[at]);
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(from, other);
  EXPECT_EQ(into[offset + bytes], std::byte{0xA5});
  if (offset > 0) {
    EXPECT_EQ(into[offset - 1], std::byte{0xA5});
  }
  // The other way round: the same bits.
  std::memcpy(from.data() + offset, a.data(), bytes);
  combine(reduction, kDtype, count, other.data() + offset, from.data() + offset);
  EXPECT_EQ(std::memcmp(other.data() + offset, into.data() + offset, bytes), 0);
}

class Combine : public testing::TestWithParam<int> {};

TEST_P(Combine, IsWhatItsValuesSay) {
  const auto reduction = static_cast<Reduction>(GetParam());
  for (const std::size_t count : {0, 1, 2, 63, 1000, 4099}) {
    for (const std::size_t offset : {0, 1, 3, 8}) {
      check<Dtype::kF32>(reduction, count, offset);
      check<Dtype::kF64>(reduction, count, offset);
      check<Dtype::kF16>(reduction, count, offset);
      check<Dtype::kBf16>(reduction, count, offset);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reductions, Combine, testing::Range(0, plan::kReductionCount));

TEST(Combine, MinimaKnowNanAndTheSignOfZero) {
  const float zero = 0;
  const float nan = std::nanf("1");
  const auto reduced = [](Reduction reduction, float a, float b) {
    combine(reduction, Dtype::kF32, 1, reinterpret_cast<std::byte*>(&a),
            reinterpret_cast<const std::byte*>(&b));
    return std::bit_cast<std::uint32_t>(a);
  };
  EXPECT_EQ(reduced(Reduction::kMinimum, zero, -zero), 0x80000000u);
  EXPECT_EQ(reduced(Reduction::kMinimum, -zero, zero), 0x80000000u);
  EXPECT_EQ(reduced(Reduction::kMaximum, -zero, zero), 0u);
  EXPECT_EQ(reduced(Reduction::kMinimum, nan, 1), 0x7FC00000u);
  EXPECT_EQ(reduced(Reduction::kMinimum, 1, -nan), 0x7FC00000u);
  EXPECT_EQ(reduced(Reduction::kMaximum, INFINITY, nan), 0x7FC00000u);
}

TEST(Combine, AnArrayWithItself) {
  std::vector<float> values = {1, -2, 0.5f};
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  combine(Reduction::kSum, Dtype::kF32, values.size(), bytes, bytes);
  EXPECT_EQ(values, (std::vector<float>{2, -4, 1}));
}

}  // namespace
}  // namespace thinwire::collective
