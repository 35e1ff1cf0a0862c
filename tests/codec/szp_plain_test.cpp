// szp's payloads against a plain reading of its page, on random data.
#include "codec/szp_plain.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec {
namespace {

using testing::kDtypeOf;
using testing::shape_of;

// Steps of `spread` lattice points at most, a new spread now and then, with exact zeros, and one
// value of `rare` that is far away or no number.
template <typename Value>
std::vector<Value> random_values(std::mt19937_64& random, std::size_t count, double bound,
                                 unsigned rare) {
  constexpr Value kSpecials[] = {std::numeric_limits<Value>::quiet_NaN(),
                                 std::numeric_limits<Value>::infinity(),
                                 -std::numeric_limits<Value>::max(), Value{-0.0}};
  std::vector<Value> values(count);
  double value = 0, spread = 1;
  for (Value& each : values) {
    if (random() % 40 == 0) spread = std::ldexp(1.0, static_cast<int>(random() % 22)) / 4;
    if (random() % 100 == 0) value = 0;
    value += bound * spread * (static_cast<double>(random() % 2001) / 1000 - 1);
    each = static_cast<Value>(random() % 50 == 0 ? 0 : value);
    if (rare != 0 && random() % rare == 0) each = kSpecials[random() % std::size(kSpecials)];
  }
  return values;
}

template <typename Value>
void expect_plain(const std::vector<Value>& values, const Shape& shape, double bound,
                  int& compared) {
  const auto parameter = std::bit_cast<std::uint64_t>(bound);
  const auto lattice = szp::make_lattice<Value>(parameter);
  ASSERT_TRUE(lattice.exists());
  bool is_whole = false;
  const auto expected = testing::plain_payload(values, shape, lattice, is_whole);
  if (!is_whole) return;
  ++compared;
  const Chunk chunk{kDtypeOf<Value>, shape};
  ASSERT_EQ(testing::encoded(kSzp, values, shape, parameter), expected);
  std::vector<Value> decoded(values.size(), Value{77});
  const Status status =
      kSzp.decode(expected, chunk, parameter, reinterpret_cast<std::byte*>(decoded.data()));
  ASSERT_TRUE(status.ok()) << status.message();
  // Bits, because there is NaN.
  const auto plain = testing::plain_decoded(values, lattice);
  for (std::size_t at = 0; at < values.size(); ++at) {
    ASSERT_EQ(szp::to_bits(decoded[at]), szp::to_bits(plain[at])) << at;
  }
}

Shape random_shape(std::mt19937_64& random) {
  const auto extent = [&](std::uint64_t most) {
    return random() % 3 == 0 ? most : 1 + random() % most;
  };
  switch (random() % 3) {
    case 0:
      return shape_of({extent(4096)});
    case 1:
      return shape_of({extent(64), extent(64)});
    default:
      return shape_of({extent(16), extent(16), extent(16)});
  }
}

template <typename Value>
void compare_random(int rounds) {
  std::mt19937_64 random(sizeof(Value));
  int compared = 0;
  for (int round = 0; round < rounds; ++round) {
    const Shape shape = random_shape(random);
    const double bound = std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000,
                                    static_cast<int>(random() % 40) - 20);
    const unsigned rare = round % 3 == 0 ? 0 : round % 3 == 1 ? 500 : 7;
    SCOPED_TRACE(::testing::Message() << "round " << round << ", rank " << shape.rank);
    expect_plain(random_values<Value>(random, shape.count(), bound, rare), shape, bound, compared);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(compared, rounds / 2);
}

TEST(SzpPlain, Fp32PayloadsAreThoseOfThePage) { compare_random<float>(400); }
TEST(SzpPlain, Fp64PayloadsAreThoseOfThePage) { compare_random<double>(400); }

}  // namespace
}  // namespace thinwire::codec
