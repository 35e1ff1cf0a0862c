// The expack codec: every bit pattern comes back, the kinds are taken where they should be, and
// payloads whose parts disagree are refused.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "codec/expack/core.h"
#include "codec/words.h"

namespace thinwire::codec {
namespace {

// Those with at least 5 bits of exponent; e4m3 has tests of its own.
constexpr Dtype kDtypes[] = {Dtype::kBf16, Dtype::kF16, Dtype::kF32, Dtype::kE5m2};

struct Layout {
  int mantissa_bits;
  unsigned largest;
};

Layout layout_of(Dtype dtype) {
  if (dtype == Dtype::kBf16) return {7, 255};
  if (dtype == Dtype::kE5m2) return {2, 31};
  return dtype == Dtype::kF16 ? Layout{10, 31} : Layout{23, 255};
}

std::size_t values_of_chunk(Dtype dtype) {
  return expack::chunk_bytes(false, dtype_size(dtype)) / dtype_size(dtype);
}

// Values of random signs and mantissas whose exponents `exponent(i)` gives.
template <typename Exponent>
std::vector<std::byte> values_of(Dtype dtype, std::size_t count, Exponent exponent) {
  const Layout layout = layout_of(dtype);
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::byte> bytes(count * dtype_size(dtype));
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint32_t mantissa = random() & ((1u << layout.mantissa_bits) - 1);
    const std::uint32_t sign = random() & 1;
    const std::uint32_t value =
        sign << (8 * dtype_size(dtype) - 1) | exponent(at) << layout.mantissa_bits | mantissa;
    std::memcpy(bytes.data() + at * dtype_size(dtype), &value, dtype_size(dtype));
  }
  return bytes;
}

// Exponents like those of gradients: half of them the largest, a quarter one less, ...
std::vector<std::byte> gradients(Dtype dtype, std::size_t count) {
  std::mt19937 random(7);
  const unsigned top = layout_of(dtype).largest / 2;
  return values_of(dtype, count, [&](std::size_t) {
    return top - static_cast<unsigned>(std::countr_zero(random() | 0x400u));
  });
}

Chunk chunk_of(Dtype dtype, const std::vector<std::byte>& values) {
  return {dtype, Shape::line(values.size() / dtype_size(dtype))};
}

// The payload, or nothing if it is not smaller than the values.
std::vector<std::byte> expect_round_trip(Dtype dtype, const std::vector<std::byte>& values,
                                         std::uint64_t mode) {
  const Chunk chunk = chunk_of(dtype, values);
  const auto payload = testing::encoded(kExpack, values.data(), chunk, mode);
  EXPECT_EQ(payload.size() % 8 == 0 || payload.size() == values.size(), true);
  if (payload.size() >= values.size()) return {};
  std::vector<std::byte> out(values.size(), std::byte{0x5A});
  const Status status = kExpack.decode(payload, chunk, mode, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, values);
  return payload;
}

// Returns the kind of the first stretch.
unsigned kind_in(const std::vector<std::byte>& payload) {
  return expack::kind_of(load<std::uint32_t>(payload.data()));
}

TEST(Expack, EveryLengthComesBack) {
  for (const Dtype dtype : kDtypes) {
    const std::size_t whole = values_of_chunk(dtype);
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, std::size_t{255}, std::size_t{256}, std::size_t{257},
          std::size_t{1023}, std::size_t{1024}, std::size_t{1025}, std::size_t{3001}, whole - 1,
          whole}) {
      for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
        SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << count << " " << mode);
        const auto payload = expect_round_trip(dtype, gradients(dtype, count), mode);
        // Rows are filled up: 257 values take as much as 512.
        if (count % 256 == 0 || count > 3000) {
          EXPECT_FALSE(payload.empty());
        }
      }
    }
  }
}

TEST(Expack, EveryBitPatternComesBack) {
  std::mt19937 random(3);
  for (const Dtype dtype : kDtypes) {
    const unsigned largest = layout_of(dtype).largest;
    // All exponents, infinity's and 0 among them, first rarely and then often enough for the
    // payload to be larger than the values; mantissas of NaNs and subnormals are random.
    for (const unsigned rare : {200u, 20u, 4u, 1u}) {
      const auto values = values_of(dtype, 4096, [&](std::size_t at) {
        return random() % rare == 0 ? random() % (largest + 1)
                                    : static_cast<unsigned>(largest / 2 + at / 256 % 3);
      });
      for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
        SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << rare << " " << mode);
        const auto payload = expect_round_trip(dtype, values, mode);
        EXPECT_FALSE(payload.empty() && rare == 200);
      }
    }
    for (unsigned exponent = 0; exponent <= largest; ++exponent) {
      SCOPED_TRACE(exponent);
      const auto values = values_of(dtype, 512, [&](std::size_t) { return exponent; });
      EXPECT_FALSE(expect_round_trip(dtype, values, 0).empty());
    }
  }
}

TEST(Expack, KindsAreTakenWhereTheyPay) {
  std::mt19937 random(5);
  for (const Dtype dtype : kDtypes) {
    const std::size_t count = values_of_chunk(dtype);
    const auto kind_of = [&](auto exponent, std::uint64_t mode) {
      const auto payload = expect_round_trip(dtype, values_of(dtype, count, exponent), mode);
      return payload.empty() ? 9 : static_cast<int>(kind_in(payload));
    };
    const auto flat = [&](std::size_t) { return 12 + random() % 7; };
    const auto steep = [&](std::size_t) { return 12u + std::countr_zero(random() | 0x20u); };
    const auto zeros = [&](std::size_t) { return random() % 2 == 0 ? 0u : 12 + random() % 2; };
    EXPECT_EQ(kind_of(flat, 0), 0);
    EXPECT_EQ(kind_of(flat, 2), 1);
    EXPECT_EQ(kind_of(steep, 0), 1);
    EXPECT_EQ(kind_of(steep, 1), 0);
    EXPECT_EQ(kind_of(zeros, 0), 3);
    EXPECT_EQ(kind_of(zeros, 1), 2);
    EXPECT_EQ(kind_of([](std::size_t) { return 0u; }, 2), 3);
  }
}

TEST(Expack, ZerosPay) {
  for (const Dtype dtype : kDtypes) {
    std::mt19937 random(11);
    const std::size_t count = values_of_chunk(dtype);
    const auto values = values_of(
        dtype, count, [&](std::size_t) { return random() % 10 != 0 ? 0u : 10 + random() % 4; });
    const auto verbatim_bits = 8 * dtype_size(dtype) - (layout_of(dtype).largest == 31 ? 5 : 8);
    const auto payload = expect_round_trip(dtype, values, 0);
    ASSERT_FALSE(payload.empty());
    EXPECT_LT(8.0 * static_cast<double>(payload.size()) / static_cast<double>(count),
              static_cast<double>(verbatim_bits) + 2.3);
  }
}

TEST(Expack, PartsThatDisagreeAreDamage) {
  for (const Dtype dtype : kDtypes) {
    for (std::uint64_t mode = 1; mode < expack::kModes; ++mode) {
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << mode);
      const auto values = gradients(dtype, 3001);
      const Chunk chunk = chunk_of(dtype, values);
      const auto payload = testing::encoded(kExpack, values.data(), chunk, mode);
      std::vector<std::byte> out(values.size());
      const auto code = [&](const std::vector<std::byte>& bytes) {
        return kExpack.decode(bytes, chunk, mode, out.data()).code();
      };
      ASSERT_EQ(code(payload), StatusCode::kOk);
      for (std::size_t length = 0; length < payload.size(); length += 7) {
        EXPECT_EQ(code({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length)}),
                  StatusCode::kDamaged);
      }
      auto longer = payload;
      longer.resize(longer.size() + 8);
      EXPECT_EQ(code(longer), StatusCode::kDamaged);
      // Counts, the kind, zeros of the head, and a base.
      for (std::size_t at = 0; at <= expack::kHeadBytes; ++at) {
        auto changed = payload;
        changed[at] = at < expack::kHeadBytes ? changed[at] ^ std::byte{0xFF} : std::byte{0xFF};
        EXPECT_EQ(code(changed), StatusCode::kDamaged) << at;
      }
    }
  }
}

TEST(Expack, CodesOtherThanTheHeadCountsAreDamage) {
  const auto values = gradients(Dtype::kBf16, 8192);
  const Chunk chunk = chunk_of(Dtype::kBf16, values);
  std::vector<std::byte> out(values.size());
  for (std::uint64_t mode = 1; mode < expack::kModes; ++mode) {
    const auto payload = testing::encoded(kExpack, values.data(), chunk, mode);
    const auto parts = expack::parts_of<Dtype::kBf16>(expack::whole_extent(32), 0, 0);
    for (const unsigned pairs : {0u, 0xFFu}) {
      // One group's inner codes, and in the fixed kind its outer ones, as others.
      auto changed = payload;
      changed[parts.inner] = changed[parts.inner + 1] = static_cast<std::byte>(pairs);
      if (mode == 1) changed[parts.outer] = static_cast<std::byte>(pairs);
      const bool same_codes = mode == 1 && pairs == 0;  // no raw exponent comes or goes
      EXPECT_EQ(kExpack.decode(changed, chunk, mode, out.data()).code(),
                same_codes ? StatusCode::kOk : StatusCode::kDamaged)
          << mode << " " << pairs;
    }
  }
}

TEST(Expack, OptionsAreModes) {
  for (const char* value : {"", "fast", "0", "Auto", "entropy "}) {
    const Option option{"mode", value};
    EXPECT_EQ(kExpack.parse({&option, 1}).status().code(), StatusCode::kInvalidArgument) << value;
  }
  const Option other{"rate", "auto"};
  EXPECT_EQ(kExpack.parse({&other, 1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*kExpack.parse({}), 0u);
  for (std::uint64_t mode = 0; mode < expack::kModes; ++mode) {
    const std::string text = kExpack.describe(mode);
    const Option option{"mode", std::string_view(text).substr(5)};
    EXPECT_EQ(*kExpack.parse({&option, 1}), mode);
    EXPECT_TRUE(kExpack.check(mode, Dtype::kF32, 1).ok());
  }
  EXPECT_EQ(kExpack.check(expack::kModes, Dtype::kF32, 1).code(), StatusCode::kDamaged);
}

}  // namespace
}  // namespace thinwire::codec
