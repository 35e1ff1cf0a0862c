// The mpc codec against a plain reading of its page, bit by bit.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

constexpr int kUnit = 1024;

template <typename Word>
std::vector<Word> plane_words(const std::vector<Word>& values, std::size_t first, std::size_t count,
                              int stride) {
  constexpr int kBits = 8 * sizeof(Word);
  std::vector<Word> differences((count + kBits - 1) / kBits * kBits);
  for (std::size_t at = 0; at < count; ++at) {
    const Word before = at >= static_cast<std::size_t>(stride) ? values[first + at - stride] : 0;
    differences[at] = values[first + at] - before;
  }
  std::vector<Word> words(differences.size());
  for (std::size_t at = 0; at < differences.size(); ++at) {
    for (int bit = 0; bit < kBits; ++bit) {
      const Word one = differences[at] >> bit & 1;
      words[at / kBits * kBits + bit] |= one << (at % kBits);
    }
  }
  for (std::size_t at = words.size() - 1; at > 0; --at) words[at] -= words[at - 1];
  return words;
}

// The stream of one chunk as spec/codec-mpc.md puts it.
template <typename Word>
std::vector<std::byte> plain_stream(const std::vector<Word>& values, int stride) {
  std::vector<std::byte> bitmaps, payload;
  for (std::size_t first = 0; first < values.size(); first += kUnit) {
    const auto count = std::min<std::size_t>(kUnit, values.size() - first);
    const auto words = plane_words(values, first, count, stride);
    std::vector<std::byte> bitmap(words.size() / 8);
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at] == 0) continue;
      bitmap[at / 8] |= static_cast<std::byte>(1 << (at % 8));
      const auto* bytes = reinterpret_cast<const std::byte*>(&words[at]);
      payload.insert(payload.end(), bytes, bytes + sizeof(Word));
    }
    bitmaps.insert(bitmaps.end(), bitmap.begin(), bitmap.end());
  }
  bitmaps.insert(bitmaps.end(), payload.begin(), payload.end());
  return bitmaps;
}

template <typename Word>
void expect_round_trip(const std::vector<Word>& values, int stride) {
  expect_coded_as(kMpc, values, Shape::line(values.size()), static_cast<std::uint64_t>(stride),
                  plain_stream(values, stride));
}

TEST(Mpc, IsWhatItsPageSays) {
  for (const std::size_t count :
       {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u, 1023u, 1024u, 1025u, 2048u, 3001u, 8192u}) {
    for (const int stride : {1, 2, 3, 5, 31, 32}) {
      for (int kind = 0; kind < kKinds; ++kind) {
        SCOPED_TRACE(::testing::Message() << count << " values, stride " << stride << ", " << kind);
        expect_round_trip(field<std::uint32_t>(count, kind), stride);
        expect_round_trip(field<std::uint64_t>(count, kind), stride);
      }
    }
  }
  expect_round_trip(field<std::uint32_t>(16384, kSmooth), 1);
}

TEST(Mpc, EveryBitPatternSurvives) {
  const auto values = field<std::uint32_t>(500, kSpecial);
  expect_round_trip(values, 1);
  expect_round_trip(values, 7);
}

TEST(Mpc, WrongLengthsAreDamage) {
  const auto values = field<std::uint32_t>(3001, kSmooth);
  const Chunk chunk{Dtype::kF32, Shape::line(values.size())};
  const auto stream = encoded(kMpc, values, chunk.shape, 1);
  std::vector<std::byte> out(chunk.raw_bytes());
  auto longer = stream;
  longer.resize(longer.size() + 4);
  EXPECT_EQ(kMpc.decode(longer, chunk, 1, out.data()).code(), StatusCode::kDamaged);
  for (std::size_t length = 0; length < stream.size(); length += 3) {
    EXPECT_EQ(kMpc.decode(ByteView(stream).first(length), chunk, 1, out.data()).code(),
              StatusCode::kDamaged)
        << length;
  }
  auto denser = stream;
  denser[0] ^= std::byte{1};
  EXPECT_EQ(kMpc.decode(denser, chunk, 1, out.data()).code(), StatusCode::kDamaged);
}

TEST(Mpc, StridesOutOfRangeAreRefused) {
  for (const char* value : {"0", "33", "-1", "x", "", "1.5", "99999999999999999999"}) {
    const Option option{"stride", value};
    EXPECT_EQ(kMpc.parse({&option, 1}).status().code(), StatusCode::kInvalidArgument) << value;
  }
  EXPECT_EQ(kMpc.check(0, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_EQ(kMpc.check(33, Dtype::kF32, 1).code(), StatusCode::kDamaged);
  EXPECT_TRUE(kMpc.check(32, Dtype::kF64, 1).ok());
  EXPECT_EQ(*kMpc.parse({}), 1u);
}

TEST(Mpc, TheRightStrideShrinksTuples) {
  // x, y, z of particles along a line: each coordinate is smooth, the sequence is not.
  std::vector<std::uint32_t> values(3000);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const auto value = static_cast<float>(static_cast<double>(at % 3) * 1000 + 1e-3 * (at / 3));
    std::memcpy(&values[at], &value, 4);
  }
  const auto with_stride = [&](std::uint64_t stride) {
    return encoded(kMpc, values, Shape::line(values.size()), stride).size();
  };
  EXPECT_LT(with_stride(3), with_stride(1));
  EXPECT_LT(with_stride(3), values.size() * 4 / 2);
}

}  // namespace
}  // namespace thinwire::codec::testing
