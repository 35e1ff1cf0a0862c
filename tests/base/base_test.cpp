#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/checksum.h"
#include "base/parse.h"
#include "other_float_mode.h"

namespace thinwire {
namespace {

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Values of spec/frame.md: a change here is a change of the wire.
TEST(Checksum, KnownValues) {
  EXPECT_EQ(checksum({}), 0u);
  const auto ascending = [](std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t at = 0; at < count; ++at) bytes[at] = static_cast<std::byte>(at % 251);
    return bytes;
  };
  EXPECT_EQ(checksum(ascending(1)), 0xd130e3cba3ecbba7u);
  EXPECT_EQ(checksum(ascending(1024)), 0xac139ee961c4e74cu);
  EXPECT_EQ(checksum(ascending(5000)), 0x5b8c77aaf66b0e07u);
}

TEST(Checksum, EveryBitCounts) {
  for (const std::size_t count : {1u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 3000u}) {
    auto bytes = random_bytes(count, static_cast<unsigned>(count));
    const auto sum = checksum(bytes);
    for (std::size_t at = 0; at < count; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[at] ^= static_cast<std::byte>(1 << bit);
        ASSERT_NE(static_cast<std::uint32_t>(checksum(bytes)), static_cast<std::uint32_t>(sum));
        bytes[at] ^= static_cast<std::byte>(1 << bit);
      }
    }
  }
}

TEST(Checksum, OrderAndLengthCount) {
  auto bytes = random_bytes(4096, 1);
  const auto sum = checksum(bytes);
  for (const std::size_t step : {1u, 4u, 8u, 512u, 1024u}) {
    auto swapped = bytes;
    std::swap_ranges(swapped.begin(), swapped.begin() + step, swapped.begin() + 2 * step);
    EXPECT_NE(checksum(swapped), sum) << step;
  }
  const std::vector<std::byte> zeros(3000);
  for (std::size_t count = 1; count < zeros.size(); count += 97) {
    EXPECT_NE(checksum(ByteView(zeros).first(count)), checksum(ByteView(zeros).first(count - 1)));
  }
}

TEST(Checksum, AnyAlignment) {
  const auto bytes = random_bytes(2048 + 8, 2);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const std::vector<std::byte> copy(bytes.begin() + static_cast<long>(offset),
                                      bytes.begin() + static_cast<long>(offset) + 2000);
    EXPECT_EQ(checksum(ByteView(bytes).subspan(offset, 2000)), checksum(copy));
  }
}

TEST(Parse, WholeNumbers) {
  EXPECT_EQ(parse_whole_number("0"), 0u);
  EXPECT_EQ(parse_whole_number("0032"), 32u);
  EXPECT_EQ(parse_whole_number("18446744073709551615"), UINT64_MAX);
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "x", "18446744073709551616"}) {
    EXPECT_EQ(parse_whole_number(text), std::nullopt) << text;
  }
}

TEST(Parse, Sizes) {
  EXPECT_EQ(*parse_size("0"), 0u);
  EXPECT_EQ(*parse_size("65536"), 65536u);
  EXPECT_EQ(*parse_size("64k"), 65536u);
  EXPECT_EQ(*parse_size("64KiB"), 65536u);
  EXPECT_EQ(*parse_size("64 KB"), 65536u);
  EXPECT_EQ(*parse_size("1.5MiB"), 3u << 19);
  EXPECT_EQ(*parse_size("3G"), 3ull << 30);
  for (const char* text : {"", "k", "-1", "1x", "1kib2", "nan", "inf", "1e30", "0x10"}) {
    EXPECT_EQ(parse_size(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Parse, LinkRates) {
  EXPECT_DOUBLE_EQ(*parse_link_rate("100mbit"), 12.5e6);
  EXPECT_DOUBLE_EQ(*parse_link_rate("1Gbit"), 125e6);
  EXPECT_DOUBLE_EQ(*parse_link_rate("12.5gbit/s"), 12.5e9 / 8);
  EXPECT_DOUBLE_EQ(*parse_link_rate("10 Gbps"), 1.25e9);
  EXPECT_DOUBLE_EQ(*parse_link_rate("2.5GB/s"), 2.5e9);
  for (const char* text :
       {"", "fast", "0gbit", "-1gbit", "1g", "1gbitt", "1 b", "1e308tbit", "1e-323bit"}) {
    EXPECT_EQ(parse_link_rate(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Parse, NumbersAreTheSameInEveryFloatingPointMode) {
  for (const char* text : {"0.3", "3e-7", "123.456", "5e-324"}) {
    const double expected = *parse_number(text);
    double found = 0;
    {
      const OtherFloatMode mode;
      found = *parse_number(text);
    }
    EXPECT_EQ(found, expected) << text;
  }
}

TEST(Parse, Numbers) {
  EXPECT_DOUBLE_EQ(*parse_number("1e-4"), 1e-4);
  for (const char* text : {"", "1 ", "8bits", "nan", "inf"}) {
    EXPECT_FALSE(parse_number(text).ok()) << text;
  }
}

}  // namespace
}  // namespace thinwire
