// The szp codec: its bound on any data, and what it refuses.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "codec/szp/core.h"
#include "codec/szp/format.h"
#include "codec/words.h"

namespace thinwire::codec {
namespace {

using namespace szp;

using testing::kDtypeOf;
using testing::shape_of;

template <typename Value>
const std::byte* bytes_of(const std::vector<Value>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

template <typename Value>
std::vector<std::byte> encoded(const std::vector<Value>& values, const Shape& shape,
                               std::uint64_t parameter) {
  return testing::encoded(kSzp, values, shape, parameter);
}

template <typename Value>
std::vector<Value> decoded(const std::vector<std::byte>& payload, const Shape& shape,
                           std::uint64_t parameter) {
  std::vector<Value> out(shape.count(), Value{77});
  const Status status = kSzp.decode(payload, {kDtypeOf<Value>, shape}, parameter,
                                    reinterpret_cast<std::byte*>(out.data()));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

// Whether `to` may stand for `from`; exact, because long double holds the difference if the two
// are near enough for it to matter.
template <typename Value>
bool is_within(Value from, Value to, double bound) {
  if (szp::to_bits(from) == szp::to_bits(to)) return true;
  const auto error = std::fabs(static_cast<long double>(from) - static_cast<long double>(to));
  return error <= static_cast<long double>(bound);
}

// Bytes of the payload; the raw ones if the chunk would be stored as it is.
template <typename Value>
std::size_t check_bound(const std::vector<Value>& values, const Shape& shape, double bound) {
  const auto parameter = std::bit_cast<std::uint64_t>(bound);
  EXPECT_TRUE(kSzp.check(parameter, kDtypeOf<Value>, shape.rank).ok());
  const auto payload = encoded(values, shape, parameter);
  if (payload.size() >= values.size() * sizeof(Value)) return values.size() * sizeof(Value);
  EXPECT_EQ(payload.size() % 4, 0u);
  const auto back = decoded<Value>(payload, shape, parameter);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (is_within(values[at], back[at], bound)) continue;
    ADD_FAILURE() << at << ": " << values[at] << " became " << back[at] << ", bound " << bound;
    break;
  }
  return payload.size();
}

template <typename Value>
std::vector<Value> smooth_field(const Shape& shape, double scale, double noise) {
  std::mt19937_64 random(shape.count());
  std::normal_distribution<double> normal;
  std::vector<Value> values(shape.count());
  std::array<std::uint64_t, 4> at{};
  for (Value& value : values) {
    double sum = 0;
    for (int axis = 0; axis < shape.rank; ++axis) {
      const auto each = static_cast<std::size_t>(axis);
      sum += std::sin(0.2 * static_cast<double>(at[each]) + axis);
    }
    value = static_cast<Value>(scale * (sum + noise * normal(random)));
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      const auto each = static_cast<std::size_t>(axis);
      if (++at[each] < shape.extent[each]) break;
      at[each] = 0;
    }
  }
  return values;
}

const std::vector<Shape> kShapes = {
    shape_of({1}),          shape_of({2}),          shape_of({17}),       shape_of({4095}),
    shape_of({4096}),       shape_of({1, 1}),       shape_of({3, 5}),     shape_of({64, 64}),
    shape_of({61, 7}),      shape_of({1, 64}),      shape_of({64, 1}),    shape_of({1, 1, 1}),
    shape_of({16, 16, 16}), shape_of({12, 16, 16}), shape_of({16, 5, 3}), shape_of({1, 16, 9}),
    shape_of({7, 1, 2})};

TEST(Szp, KeepsItsBoundOnFields) {
  for (const Shape& shape : kShapes) {
    for (const double noise : {0.0, 1e-3, 1.0}) {
      for (double bound = 1e-9; bound < 1e3; bound *= 3.7) {
        SCOPED_TRACE(::testing::Message() << "rank " << shape.rank << ", " << shape.count()
                                          << " values, noise " << noise);
        check_bound(smooth_field<float>(shape, 1, noise), shape, bound);
        check_bound(smooth_field<double>(shape, 1, noise), shape, bound);
      }
    }
  }
}

TEST(Szp, KeepsItsBoundOnAnyBits) {
  std::mt19937_64 random(5);
  for (const Shape& shape : kShapes) {
    std::vector<float> single(shape.count());
    std::vector<double> twice(shape.count());
    for (const double bound : {5e-324, 1e-320, 1e-45, 1e-38, 1e-20, 1e-3, 1.0, 1e10, 1e38, 1e300,
                               std::numeric_limits<double>::max()}) {
      for (float& value : single)
        value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      for (double& value : twice) value = std::bit_cast<double>(random());
      check_bound(single, shape, bound);
      check_bound(twice, shape, bound);
    }
  }
}

// Values that lie on the middles between lattice points and one bit beside them.
template <typename Value>
void check_middles(double bound) {
  const auto lattice = make_lattice<Value>(std::bit_cast<std::uint64_t>(bound));
  ASSERT_TRUE(lattice.exists());
  ASSERT_LE(lattice.half, bound);
  ASSERT_LE(lattice.step, 2 * bound);
  const Shape shape = Shape::line(4096);
  std::vector<Value> values(shape.count());
  std::mt19937_64 random(3);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const auto index = static_cast<double>(at < 64 ? at : random() % (at < 2048 ? 4096 : 1 << 22));
    const Value middle = static_cast<Value>((index + 0.5) * static_cast<double>(lattice.step));
    const Value beside[] = {middle, std::nextafter(middle, Value{0}),
                            std::nextafter(middle, std::numeric_limits<Value>::max())};
    values[at] = at % 2 == 0 ? beside[at % 3] : -beside[at % 3];
  }
  check_bound(values, shape, bound);
}

TEST(Szp, KeepsItsBoundInTheMiddlesBetweenPoints) {
  for (const double bound : {1e-4, 1e-3, 0.5, 0.75, 1.0, 1.0009765625, 1.00048828125, 3.0, 7e-8,
                             1e-29, 3e20, 0.1, 0.2, 0.3}) {
    SCOPED_TRACE(bound);
    check_middles<float>(bound);
    check_middles<double>(bound);
  }
}

// The promise of `safe`: middles and their neighbours, where the rounding of a place decides.
template <typename Value>
void check_safe_places() {
  std::mt19937_64 random(23);
  for (int at = 0; at < 2000000; ++at) {
    const double bound =
        std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, at % 60 - 30);
    // Now and then one of few bits, or a power of two.
    const std::uint64_t cleared = at % 7 == 0 ? 44 : at % 11 == 0 ? 52 : 0;
    const auto lattice =
        make_lattice<Value>(std::bit_cast<std::uint64_t>(bound) >> cleared << cleared);
    const double limit = std::min<double>(static_cast<double>(lattice.safe), 1 << 22);
    const double index = std::floor(limit * static_cast<double>(random() % 1025) / 1024);
    const auto middle = static_cast<Value>((index - 0.5) * static_cast<double>(lattice.step));
    const Value value = from_bits<Value>(szp::to_bits(middle) + random() % 5 - 2);
    if (!(std::fabs(value * lattice.inverse) <= lattice.safe)) continue;
    ASSERT_TRUE(quantise(value, lattice).is_bounded) << value << ", bound " << bound;
  }
}

TEST(Szp, SafePlacesNeedNoComparison) {
  check_safe_places<float>();
  check_safe_places<double>();
}

TEST(Szp, StepsLeaveAMarginOrKeepTheLattice) {
  for (int at = 0; at < 100000; ++at) {
    const double bound = std::ldexp(1.0 + at / 100000.0, at % 60 - 30);
    const auto lattice = make_lattice<float>(std::bit_cast<std::uint64_t>(bound));
    const float twice = 2 * lattice.half;
    ASSERT_LE(lattice.half, bound);
    if (lattice.step == twice) continue;
    ASSERT_LT(lattice.step, twice);
    ASSERT_GE(twice - lattice.step, lattice.step * 0x1p-10f);
    ASSERT_LE(twice - lattice.step, twice * 0x1p-8f);
  }
  EXPECT_EQ(make_lattice<float>(std::bit_cast<std::uint64_t>(0.5)).step, 1.0f);
  EXPECT_EQ(make_lattice<double>(std::bit_cast<std::uint64_t>(1.5)).step, 3.0);
  EXPECT_FALSE(make_lattice<float>(0).exists());
  EXPECT_FALSE(make_lattice<float>(std::bit_cast<std::uint64_t>(1e-300)).exists());
  EXPECT_TRUE(make_lattice<double>(std::bit_cast<std::uint64_t>(1e-270)).exists());
}

TEST(Szp, IntegersStayIntegers) {
  std::vector<float> values(4096);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = static_cast<float>(static_cast<int>(at * at % 9001) - 4000);
  }
  const auto payload = encoded(values, Shape::line(4096), std::bit_cast<std::uint64_t>(0.5));
  EXPECT_EQ(decoded<float>(payload, Shape::line(4096), std::bit_cast<std::uint64_t>(0.5)), values);
  EXPECT_LT(check_bound(values, Shape::line(4096), 1.0), payload.size());
}

template <typename Value>
void check_specials() {
  using Limits = std::numeric_limits<Value>;
  const Value specials[] = {
      Limits::quiet_NaN(), -Limits::signaling_NaN(), Limits::infinity(), -Limits::infinity(),
      Value{-0.0},         Limits::denorm_min(),     Limits::max(),      Limits::lowest()};
  for (const Shape& shape : kShapes) {
    auto values = smooth_field<Value>(shape, 1, 0);
    for (std::size_t at = 0; at < values.size(); at += 37) {
      values[at] = specials[at / 37 % std::size(specials)];
    }
    const auto size = check_bound(values, shape, 1e-3);
    if (values.size() == 4096) {
      EXPECT_LT(size, values.size() * sizeof(Value) / 2);
    }
  }
}

TEST(Szp, NanAndInfinitySurviveBitForBit) {
  check_specials<float>();
  check_specials<double>();
}

TEST(Szp, ConstantChunksAreAlmostNothing) {
  const Shape shape = Shape::line(4096);
  EXPECT_EQ(check_bound(std::vector<float>(4096, 0.0f), shape, 1e-3), 0u);
  EXPECT_EQ(check_bound(std::vector<float>(4096, -0.0f), shape, 1e-3), 0u);
  EXPECT_EQ(check_bound(std::vector<float>(4096, 1.5f), shape, 1e-3), 8u);
  EXPECT_EQ(check_bound(std::vector<float>(4096, std::nanf("7")), shape, 1e-3), 8u);
  EXPECT_EQ(check_bound(std::vector<double>(4096, 1e300), shape, 1e-3), 12u);
  EXPECT_EQ(encoded(std::vector<float>(4096, 1.5f), shape, 0).size(), 8u);
  EXPECT_EQ(decoded<float>(encoded(std::vector<float>(4096, 1.5f), shape, 0), shape, 0),
            std::vector<float>(4096, 1.5f));
  EXPECT_EQ(encoded(std::vector<float>(1, 1.5f), Shape::line(1), 0).size(), 4u);
}

TEST(Szp, EveryCodeIsReached) {
  for (int bits = 0; bits < 22; ++bits) {
    for (const int more : {-1, 0, 1}) {
      std::vector<float> values(4096);
      const int most = (1 << bits) + more;
      for (std::size_t at = 0; at < values.size(); ++at) {
        values[at] = static_cast<float>(at % 3 == 0 ? most : at % 7 == 0 ? -most : 0);
      }
      const auto payload = encoded(values, Shape::line(4096), std::bit_cast<std::uint64_t>(0.5));
      EXPECT_EQ(decoded<float>(payload, Shape::line(4096), std::bit_cast<std::uint64_t>(0.5)),
                values);
    }
  }
}

TEST(Szp, RadicesHoldFourDigitsAndDivideExactly) {
  for (std::uint32_t code = 1; code < kFirstWideCode; ++code) {
    const Radix radix = radix_of(code);
    const std::uint64_t numbers = std::uint64_t{1} << radix.row_bits;
    const std::uint64_t fourth =
        std::uint64_t{radix.radix} * radix.radix * radix.radix * radix.radix;
    EXPECT_LE(fourth, numbers);
    const std::uint64_t step = numbers < 100000 ? 1 : numbers / 100003;
    for (std::uint64_t at = 0; at < numbers; at += step) {
      const auto number = static_cast<std::uint32_t>(at);
      ASSERT_EQ(divide(number, radix.reciprocal()), number / radix.radix) << number;
      // Just below a multiple is where a rounded reciprocal errs.
      const std::uint32_t below = number / radix.radix * radix.radix - 1;
      if (number < radix.radix) continue;
      ASSERT_EQ(divide(below, radix.reciprocal()), below / radix.radix) << below;
    }
    const auto last = static_cast<std::uint32_t>(numbers - 1);
    ASSERT_EQ(divide(last, radix.reciprocal()), last / radix.radix);
  }
  for (std::uint32_t bits = 9; bits <= 32; ++bits) {
    const std::uint32_t most = bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1;
    const std::uint32_t code = wide_code_of(most);
    EXPECT_GE(radix_of(code).row_bits, 4 * bits);
    EXPECT_LT(radix_of(code - 1).row_bits, 4 * bits);
  }
}

TEST(Szp, BoundsOfTheRange) {
  const std::vector<float> values = {1.0f, std::nanf(""), -3.0f, INFINITY, 7.0f, -INFINITY};
  const Chunk array{Dtype::kF32, Shape::line(values.size())};
  const Option option{"rel", "0.01"};
  const auto open = kSzp.parse({&option, 1});
  ASSERT_TRUE(open.ok());
  ASSERT_TRUE(kSzp.is_open(*open));
  EXPECT_TRUE(kSzp.check(*open, Dtype::kF32, 1).ok());
  const auto bound = std::bit_cast<double>(kSzp.resolve(bytes_of(values), array, *open));
  EXPECT_LE(bound, 0.01 * 10);
  EXPECT_GT(bound, 0.01 * 10 - 1e-15);
  const std::vector<float> flat(100, 3.0f);
  EXPECT_EQ(kSzp.resolve(bytes_of(flat), {Dtype::kF32, Shape::line(100)}, *open), 0u);
  const std::vector<float> none(100, INFINITY);
  EXPECT_EQ(kSzp.resolve(bytes_of(none), {Dtype::kF32, Shape::line(100)}, *open), 0u);
  const std::vector<double> huge = {1.7e308, -1.7e308};
  const auto wide = kSzp.resolve(bytes_of(huge), {Dtype::kF64, Shape::line(2)}, *open);
  EXPECT_TRUE(kSzp.check(wide, Dtype::kF64, 1).ok());
}

TEST(Szp, SpecsThatMakeNoSense) {
  for (const char* value : {"-1", "x", "", "nan", "inf", "1e999"}) {
    for (const char* key : {"abs", "rel"}) {
      const Option option{key, value};
      EXPECT_EQ(kSzp.parse({&option, 1}).status().code(), StatusCode::kInvalidArgument) << value;
    }
  }
  for (const char* value : {"0", "-0", "1.5"}) {
    const Option option{"rel", value};
    EXPECT_FALSE(kSzp.parse({&option, 1}).ok()) << value;
  }
  EXPECT_FALSE(kSzp.parse({}).ok());
  const Option both[] = {{"abs", "1"}, {"rel", "0.5"}};
  EXPECT_FALSE(kSzp.parse({both, 2}).ok());
  const Option zero{"abs", "-0"};
  EXPECT_EQ(*kSzp.parse({&zero, 1}), 0u);
  for (const std::uint64_t bad : {0x7FF0000000000000u, 0x7FF8000000000000u, 0xFFFFFFFFFFFFFFFFu}) {
    EXPECT_EQ(kSzp.check(bad, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  }
  for (const char* value : {"1e-4", "1e22", "0.5", "1e-300", "1.25e100", "0"}) {
    const Option option{"abs", value};
    EXPECT_EQ(kSzp.describe(*kSzp.parse({&option, 1})), "abs=" + std::string(value));
  }
}

TEST(Szp, WrongPayloadsAreDamage) {
  const Shape shape = shape_of({16, 16, 13});
  auto values = smooth_field<float>(shape, 1, 1e-2);
  values[100] = std::nanf("");
  values[2000] = INFINITY;
  const auto parameter = std::bit_cast<std::uint64_t>(1e-3);
  const auto payload = encoded(values, shape, parameter);
  const Chunk chunk{Dtype::kF32, shape};
  std::vector<std::byte> out(chunk.raw_bytes());
  const auto code_of = [&](ByteView bytes, std::uint64_t bound) {
    return kSzp.decode(bytes, chunk, bound, out.data()).code();
  };
  for (std::size_t length = 1; length < payload.size(); ++length) {
    ASSERT_EQ(code_of(ByteView(payload).first(length), parameter), StatusCode::kDamaged) << length;
  }
  auto longer = payload;
  longer.resize(longer.size() + 4);
  EXPECT_EQ(code_of(longer, parameter), StatusCode::kDamaged);
  EXPECT_EQ(code_of(payload, 0), StatusCode::kDamaged);
  EXPECT_EQ(code_of({}, 0), StatusCode::kDamaged);
  for (const int bit : {14, 31, 13, 10}) {
    auto other = payload;
    other[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(code_of(other, parameter), StatusCode::kDamaged) << bit;
  }
}

// A point within the limit may lie beyond the largest number: nothing is taken as bounded unseen.
TEST(SzpLattice, HugeStepsAreAlwaysCompared) {
  for (const double bound : {1e33, 6.8e35}) {
    const auto lattice = szp::make_lattice<float>(szp::to_bits(bound));
    ASSERT_TRUE(lattice.exists());
    EXPECT_EQ(lattice.safe, 0.0f);
    const float largest = std::numeric_limits<float>::max();
    const auto quantised = szp::quantise(largest, lattice);
    const float decoded = szp::value_at(quantised.index, lattice);
    EXPECT_EQ(quantised.is_bounded, std::fabs(largest - decoded) <= lattice.half);
  }
  EXPECT_GT(szp::make_lattice<float>(szp::to_bits(1e-3)).safe, 0.0f);
}

}  // namespace
}  // namespace thinwire::codec
