// The ndzip codec against a plain reading of its page.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

// The residuals by the sum over the corners of the cube that ends in each value.
template <typename Word>
std::vector<Word> plain_residuals(const std::vector<Word>& values, const Shape& shape) {
  constexpr int kBits = 8 * sizeof(Word);
  std::array<std::uint64_t, 3> extent{1, 1, 1};
  for (int axis = 0; axis < shape.rank; ++axis) extent[3 - shape.rank + axis] = shape.extent[axis];
  const auto at = [&](std::uint64_t z, std::uint64_t y, std::uint64_t x) {
    const Word word = values[(z * extent[1] + y) * extent[2] + x];
    return static_cast<Word>(word << 1 | word >> (kBits - 1));
  };
  std::vector<Word> residuals;
  for (std::uint64_t z = 0; z < extent[0]; ++z) {
    for (std::uint64_t y = 0; y < extent[1]; ++y) {
      for (std::uint64_t x = 0; x < extent[2]; ++x) {
        Word sum = 0;
        for (unsigned corner = 0; corner < 8; ++corner) {
          const unsigned a = corner & 1, b = corner >> 1 & 1, c = corner >> 2;
          if (x < a || y < b || z < c) continue;
          const Word word = at(z - c, y - b, x - a);
          sum += (a + b + c) % 2 == 0 ? word : Word{0} - word;
        }
        const Word top = Word{1} << (kBits - 1);
        residuals.push_back((sum & top) != 0 ? sum ^ (top - 1) : sum);
      }
    }
  }
  return residuals;
}

template <typename Word>
std::vector<std::byte> plain_stream(const std::vector<Word>& values, const Shape& shape) {
  constexpr std::size_t kBits = 8 * sizeof(Word);
  auto words = plain_residuals(values, shape);
  words.resize((words.size() + kBits - 1) / kBits * kBits);
  std::vector<Word> heads, planes;
  for (std::size_t first = 0; first < words.size(); first += kBits) {
    heads.push_back(0);
    for (std::size_t bit = 0; bit < kBits; ++bit) {
      Word plane = 0;
      for (std::size_t at = 0; at < kBits; ++at) plane |= (words[first + at] >> bit & 1) << at;
      if (plane == 0) continue;
      heads.back() |= Word{1} << bit;
      planes.push_back(plane);
    }
  }
  heads.insert(heads.end(), planes.begin(), planes.end());
  std::vector<std::byte> stream((heads.size() * sizeof(Word) + 7) / 8 * 8);
  std::memcpy(stream.data(), heads.data(), heads.size() * sizeof(Word));
  return stream;
}

template <typename Word>
void expect_round_trip(const std::vector<Word>& values, const Shape& shape) {
  expect_coded_as(kNdzip, values, shape, 0, plain_stream(values, shape));
}

const Shape kShapes[] = {
    shape_of({1}),        shape_of({2}),          shape_of({31}),         shape_of({32}),
    shape_of({33}),       shape_of({64}),         shape_of({65}),         shape_of({1000}),
    shape_of({4095}),     shape_of({4096}),       shape_of({1, 7}),       shape_of({7, 1}),
    shape_of({5, 9}),     shape_of({64, 64}),     shape_of({63, 64}),     shape_of({64, 63}),
    shape_of({1, 1, 17}), shape_of({16, 16, 16}), shape_of({15, 16, 16}), shape_of({16, 16, 15}),
    shape_of({3, 5, 7}),  shape_of({16, 1, 16}),  shape_of({2, 16, 3}),
};

TEST(Ndzip, IsWhatItsPageSays) {
  for (const Shape& shape : kShapes) {
    for (int kind = 0; kind < kKinds; ++kind) {
      SCOPED_TRACE(::testing::Message() << shape.extent[0] << "x" << shape.extent[1] << "x"
                                        << shape.extent[2] << ", " << kind);
      expect_round_trip(field<std::uint32_t>(shape.count(), kind), shape);
      expect_round_trip(field<std::uint64_t>(shape.count(), kind), shape);
    }
  }
}

TEST(Ndzip, EveryBitPatternSurvives) {
  const auto values = field<std::uint32_t>(500, kSpecial);
  expect_round_trip(values, shape_of({500}));
  expect_round_trip(values, shape_of({10, 50}));
  expect_round_trip(values, shape_of({5, 10, 10}));
}

TEST(Ndzip, BoxesAreOfTheAxesThatThereAre) {
  const auto box = [](const Shape& shape) { return kNdzip.chunk_shape(shape, Dtype::kF32, 0); };
  EXPECT_EQ(box(shape_of({9})), shape_of({4096}));
  EXPECT_EQ(box(shape_of({1})), shape_of({4096}));
  EXPECT_EQ(box(shape_of({9, 9})), shape_of({64, 64}));
  EXPECT_EQ(box(shape_of({9, 1})), shape_of({4096, 1}));
  EXPECT_EQ(box(shape_of({1, 1})), shape_of({1, 4096}));
  EXPECT_EQ(box(shape_of({9, 9, 9})), shape_of({16, 16, 16}));
  EXPECT_EQ(box(shape_of({9, 1, 9})), shape_of({64, 1, 64}));
  EXPECT_EQ(box(shape_of({1, 9, 1})), shape_of({1, 4096, 1}));
}

TEST(Ndzip, WrongLengthsAreDamage) {
  const auto values = field<std::uint32_t>(3001, kSmooth);
  const Shape shape = shape_of({3001});
  const auto stream = encoded(kNdzip, values, shape, 0);
  const Chunk chunk{Dtype::kF32, shape};
  std::vector<std::byte> out(chunk.raw_bytes());
  auto longer = stream;
  longer.resize(longer.size() + 8);
  EXPECT_EQ(kNdzip.decode(longer, chunk, 0, out.data()).code(), StatusCode::kDamaged);
  for (std::size_t length = 0; length < stream.size(); length += 3) {
    EXPECT_EQ(kNdzip.decode(ByteView(stream).first(length), chunk, 0, out.data()).code(),
              StatusCode::kDamaged)
        << length;
  }
  auto denser = stream;
  denser[0] = denser[1] = denser[2] = denser[3] = std::byte{0};
  EXPECT_EQ(kNdzip.decode(denser, chunk, 0, out.data()).code(), StatusCode::kDamaged);
}

TEST(Ndzip, PlanesOfZerosAreTaken) {
  std::vector<std::byte> stream(16);
  stream[0] = std::byte{3};  // planes 0 and 1, both zeros; then padding
  std::vector<std::byte> out(4, std::byte{0x5A});
  const Chunk chunk{Dtype::kF32, shape_of({1})};
  ASSERT_TRUE(kNdzip.decode(stream, chunk, 0, out.data()).ok());
  EXPECT_EQ(out, std::vector<std::byte>(4));
}

TEST(Ndzip, TakesNoParameter) {
  const Option option{"rate", "8"};
  const Status refusal = kNdzip.parse({&option, 1}).status();
  EXPECT_EQ(refusal.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal.message(), "ndzip takes no options");
  EXPECT_EQ(*kNdzip.parse({}), 0u);
  EXPECT_EQ(kNdzip.check(1, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_TRUE(kNdzip.check(0, Dtype::kF64, 3).ok());
}

// ---- Golden vectors ----

}  // namespace
}  // namespace thinwire::codec::testing
