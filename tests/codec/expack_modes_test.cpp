// Masks and dictionaries of the expack codec: they are taken where they pay and only there, every
// value comes back, and damaged ones are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "codec/expack/core.h"
#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec {
namespace {

// Those with at least 5 bits of exponent; e4m3 has tests of its own.
constexpr Dtype kDtypes[] = {Dtype::kBf16, Dtype::kF16, Dtype::kF32, Dtype::kE5m2};

struct Layout {
  int mantissa_bits;
  std::size_t verbatim_bits;
};

Layout layout_of(Dtype dtype) {
  if (dtype == Dtype::kBf16) return {7, 8};
  if (dtype == Dtype::kE5m2) return {2, 3};
  return dtype == Dtype::kF16 ? Layout{10, 11} : Layout{23, 24};
}

std::size_t values_of_chunk(Dtype dtype) {
  return expack::chunk_bytes(false, dtype_size(dtype)) / dtype_size(dtype);
}

// Values of random signs and mantissas whose exponents `exponent(i)` gives, zeros if that is 0.
template <typename Exponent>
std::vector<std::byte> values_of(Dtype dtype, std::size_t count, Exponent exponent) {
  const int mantissa_bits = layout_of(dtype).mantissa_bits;
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::byte> bytes(count * dtype_size(dtype));
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint32_t mantissa = random() & ((1u << mantissa_bits) - 1);
    const std::uint32_t sign = random() & 1;
    const std::uint32_t its = exponent(at);
    const std::uint32_t value =
        its == 0 ? 0 : sign << (8 * dtype_size(dtype) - 1) | its << mantissa_bits | mantissa;
    std::memcpy(bytes.data() + at * dtype_size(dtype), &value, dtype_size(dtype));
  }
  return bytes;
}

// One in `kept` values is not zero; their exponents are spread as those of gradients.
std::vector<std::byte> sparse(Dtype dtype, std::size_t count, unsigned kept) {
  std::mt19937 random(kept);
  return values_of(dtype, count, [&](std::size_t) {
    return random() % kept != 0 ? 0u : 20u - std::countr_zero(random() | 0x400u);
  });
}

Chunk chunk_of(Dtype dtype, const std::vector<std::byte>& values) {
  return {dtype, Shape::line(values.size() / dtype_size(dtype))};
}

// The payload, or nothing if it is not smaller than the values.
std::vector<std::byte> expect_round_trip(Dtype dtype, const std::vector<std::byte>& values,
                                         std::uint64_t mode = 0) {
  const Chunk chunk = chunk_of(dtype, values);
  const auto payload = testing::encoded(kExpack, values.data(), chunk, mode);
  if (payload.size() >= values.size()) return {};
  std::vector<std::byte> out(values.size(), std::byte{0x5A});
  const Status status = kExpack.decode(payload, chunk, mode, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, values);
  return payload;
}

std::uint32_t head_word(const std::vector<std::byte>& payload, int place) {
  return load<std::uint32_t>(payload.data() + 4 * place);
}

bool has_mask(const std::vector<std::byte>& payload) {
  return (head_word(payload, 0) & expack::kHeadFlag) != 0;
}

bool has_dictionary(const std::vector<std::byte>& payload) {
  return (head_word(payload, 1) & expack::kHeadFlag) != 0;
}

double bits_a_value(const std::vector<std::byte>& payload, std::size_t count) {
  return 8.0 * static_cast<double>(payload.size()) / static_cast<double>(count);
}

TEST(ExpackModes, AZeroCostsAboutABit) {
  for (const Dtype dtype : kDtypes) {
    const std::size_t count = values_of_chunk(dtype);
    const auto bits = static_cast<double>(layout_of(dtype).verbatim_bits);
    for (const unsigned kept : {2u, 4u, 20u}) {
      for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
        SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << kept << " " << mode);
        const auto payload = expect_round_trip(dtype, sparse(dtype, count, kept), mode);
        ASSERT_FALSE(payload.empty());
        EXPECT_TRUE(has_mask(payload));
        // The last row may be filled up with a few hundred values.
        EXPECT_LT(bits_a_value(payload, count),
                  1.1 + (bits + 4) / kept + 1024.0 / static_cast<double>(count));
      }
    }
  }
}

TEST(ExpackModes, EveryLengthComesBackWithZeros) {
  for (const Dtype dtype : kDtypes) {
    const std::size_t whole = values_of_chunk(dtype);
    for (const std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{255},
                                    std::size_t{257}, std::size_t{1030}, whole - 1, whole}) {
      for (const unsigned kept : {1u, 2u, 3u, 9u, 1000000u}) {
        SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << count << " " << kept);
        expect_round_trip(dtype, sparse(dtype, count, kept));
      }
    }
  }
}

TEST(ExpackModes, MasksBeginWhereTheyPay) {
  for (const Dtype dtype : kDtypes) {
    const std::size_t count = 1024;
    const auto bits = static_cast<unsigned>(layout_of(dtype).verbatim_bits);
    const auto with_zeros = [&](std::size_t zeros) {
      const auto payload = expect_round_trip(dtype, values_of(dtype, count, [&](std::size_t at) {
                                               return at * 7 % count < zeros ? 0u : 13u + at % 5;
                                             }));
      return !payload.empty() && has_mask(payload);
    };
    const std::size_t least = (count + bits - 1) / bits;
    EXPECT_FALSE(with_zeros(0));
    EXPECT_FALSE(with_zeros(least - 1));
    EXPECT_TRUE(with_zeros(least));
    EXPECT_TRUE(with_zeros(count - 1));
  }
}

TEST(ExpackModes, SubnormalsAndZerosWithASignAreNoZeros) {
  for (const Dtype dtype : kDtypes) {
    for (const std::uint64_t word :
         {std::uint64_t{1}, std::uint64_t{1} << (8 * dtype_size(dtype) - 1)}) {
      std::vector<std::byte> values(1024 * dtype_size(dtype));
      for (std::size_t at = 0; at < values.size(); at += dtype_size(dtype)) {
        std::memcpy(values.data() + at, &word, dtype_size(dtype));
      }
      const auto payload = expect_round_trip(dtype, values);
      ASSERT_FALSE(payload.empty());
      EXPECT_FALSE(has_mask(payload));
    }
  }
}

TEST(ExpackModes, ZerosAloneAreAHead) {
  for (const Dtype dtype : kDtypes) {
    for (const std::size_t count : {std::size_t{20}, std::size_t{300}, std::size_t{4096}}) {
      const std::vector<std::byte> values(count * dtype_size(dtype));
      EXPECT_EQ(expect_round_trip(dtype, values).size(), 16u);
      const Chunk chunk = chunk_of(dtype, values);
      std::vector<std::byte> out(values.size());
      for (std::size_t at = 0; at < 16; ++at) {
        std::vector<std::byte> changed(16);
        changed[3] = std::byte{0x80};
        changed[at] ^= std::byte{1};
        EXPECT_EQ(kExpack.decode(changed, chunk, 0, out.data()).code(), StatusCode::kDamaged);
      }
    }
  }
}

TEST(ExpackModes, ExponentsOfAnyShapeHaveADictionary) {
  for (const Dtype dtype : kDtypes) {
    const std::size_t count = values_of_chunk(dtype);
    const auto bits = static_cast<double>(layout_of(dtype).verbatim_bits);
    std::mt19937 random(5);
    const auto bits_of = [&](auto exponent) {
      const auto payload = expect_round_trip(dtype, values_of(dtype, count, exponent));
      if (payload.empty()) return 99.0;
      EXPECT_TRUE(has_dictionary(payload));
      return bits_a_value(payload, count) - bits;
    };
    EXPECT_LT(bits_of([](std::size_t) { return 9u; }), 0.1);
    EXPECT_LT(bits_of([](std::size_t at) { return at % 3 == 0 ? 2u : 29u; }), 1.1);
    EXPECT_LT(bits_of([&](std::size_t) { return 1 + 7 * (random() % 4); }), 2.1);
    EXPECT_LT(bits_of([&](std::size_t) { return 1 + 4 * (random() % 7); }), 3.1);
    EXPECT_LT(bits_of([&](std::size_t) { return 1 + 2 * (random() % 15); }), 4.1);
    if (dtype == Dtype::kF16 || dtype == Dtype::kE5m2)
      continue;  // four bits more than half of the five that it has
    // A few others besides are raw.
    EXPECT_LT(bits_of([&](std::size_t) {
                return random() % 64 == 0 ? 1 + random() % 250 : 1 + 9 * (random() % 14);
              }),
              4.3);
  }
}

TEST(ExpackModes, OtherModesAndUsualExponentsHaveNone) {
  for (const Dtype dtype : kDtypes) {
    std::mt19937 random(6);
    const auto alike = values_of(dtype, 2048, [](std::size_t) { return 9u; });
    const auto usual = values_of(dtype, 2048, [&](std::size_t) {
      return 20u - std::countr_zero(random() | 0x400u) + (random() & 1) + (random() & 1);
    });
    EXPECT_FALSE(has_dictionary(expect_round_trip(dtype, alike, 1)));
    EXPECT_FALSE(has_dictionary(expect_round_trip(dtype, alike, 2)));
    EXPECT_FALSE(has_dictionary(expect_round_trip(dtype, usual, 0)));
  }
}

// Every change of a byte is refused or decodes to other values; a reader outside of the payload
// would be found by the sanitizers.
void expect_safe(Dtype dtype, const std::vector<std::byte>& values) {
  const Chunk chunk = chunk_of(dtype, values);
  const auto payload = expect_round_trip(dtype, values);
  ASSERT_FALSE(payload.empty());
  std::vector<std::byte> out(values.size());
  const auto decode = [&](const std::vector<std::byte>& bytes) {
    const std::vector<std::byte> exact(bytes);
    return kExpack.decode(exact, chunk, 0, out.data()).code();
  };
  for (std::size_t length = 0; length < payload.size(); length += 7) {
    const std::vector<std::byte> shorter(payload.begin(),
                                         payload.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(decode(shorter), StatusCode::kDamaged) << length;
  }
  for (std::size_t at = 0; at < payload.size(); at += at < 256 ? 1 : 5) {
    for (const unsigned change : {1u, 0x80u, 0xFFu}) {
      auto changed = payload;
      changed[at] ^= static_cast<std::byte>(change);
      const StatusCode code = decode(changed);
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDamaged);
      // Others may be the kind of an empty stretch.
      if (at < expack::kHeadBytes && change == 0xFF) {
        EXPECT_EQ(code, StatusCode::kDamaged) << at;
      }
    }
  }
}

TEST(ExpackModes, DamageIsSafe) {
  for (const Dtype dtype : kDtypes) {
    SCOPED_TRACE(dtype_name(dtype));
    std::mt19937 random(7);
    expect_safe(dtype, sparse(dtype, 700, 3));
    expect_safe(dtype, values_of(dtype, 1270, [](std::size_t) { return 9u; }));
    const auto spread = [&](std::size_t at) {
      return at % 64 == 0 ? 1 + random() % 30 : 1 + 4 * (random() % 7);
    };
    expect_safe(dtype, values_of(dtype, 1270, spread));
    expect_safe(dtype, values_of(dtype, 1270, [&](std::size_t at) {
                  return random() % 2 == 0 ? 0u : spread(at);
                }));
  }
}

TEST(ExpackModes, MasksOfOtherNumbersAreDamage) {
  for (const Dtype dtype : kDtypes) {
    const auto values = sparse(dtype, 1024, 3);
    const Chunk chunk = chunk_of(dtype, values);
    const auto payload = expect_round_trip(dtype, values);
    ASSERT_TRUE(has_mask(payload));
    std::vector<std::byte> out(values.size());
    for (const unsigned fill : {0u, 0xFFu}) {
      auto changed = payload;
      std::fill_n(changed.begin() + expack::kHeadBytes, 1024 / 8, static_cast<std::byte>(fill));
      EXPECT_EQ(kExpack.decode(changed, chunk, 0, out.data()).code(), StatusCode::kDamaged) << fill;
    }
  }
}

TEST(ExpackModes, WiderPlacesAreDamage) {
  const auto values = values_of(Dtype::kF32, 512, [](std::size_t) { return 9u; });
  const Chunk chunk = chunk_of(Dtype::kF32, values);
  const auto payload = expect_round_trip(Dtype::kF32, values);
  ASSERT_TRUE(has_dictionary(payload));
  std::vector<std::byte> out(values.size());
  for (std::uint32_t width = 1; width < 9; ++width) {
    // As large as the width says, so that nothing but the width is wrong.
    auto changed = payload;
    changed.resize(payload.size() + 2 * 32 * width);
    for (std::uint32_t place = 0; place < 4; ++place) {
      store(changed.data() + 4 * place, width | (place == 1 ? expack::kHeadFlag : 0));
    }
    EXPECT_EQ(kExpack.decode(changed, chunk, 0, out.data()).code(),
              width < expack::kWidths ? StatusCode::kOk : StatusCode::kDamaged)
        << width;
  }
}

}  // namespace
}  // namespace thinwire::codec
