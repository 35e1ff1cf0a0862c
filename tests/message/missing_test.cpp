// Masks of missing values: what is written is read, and whatever else is there is refused.
#include "message/missing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "base/numbers.h"

namespace thinwire::message {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kFill = 0x7CF00000;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Values of which those are missing that `is_missing` names.
template <typename IsMissing>
std::vector<std::uint32_t> values_of(std::uint64_t count, IsMissing&& is_missing) {
  std::vector<std::uint32_t> values(count);
  for (std::uint64_t at = 0; at < count; ++at) {
    values[at] = is_missing(at) ? kFill : static_cast<std::uint32_t>(at + 1);
  }
  return values;
}

Holed holed(const std::vector<std::uint32_t>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size(), values.size(),
          Dtype::kF32, kFill};
}

Bytes mask_of(const std::vector<std::uint32_t>& values) {
  const Holed chunk = holed(values);
  Bytes mask(most_mask_bytes(values.size()) + 8, std::byte{0xC5});
  const std::uint64_t bytes = write_mask(chunk, count_missing(chunk), mask.data());
  EXPECT_LE(bytes, most_mask_bytes(values.size()));
  for (std::uint64_t at = most_mask_bytes(values.size()); at < mask.size(); ++at) {
    EXPECT_EQ(mask[at], std::byte{0xC5});
  }
  mask.resize(bytes);
  return mask;
}

TEST(Missing, MasksComeBack) {
  std::mt19937 random(5);
  for (const std::uint64_t count : {1, 2, 7, 8, 9, 63, 64, 65, 200, 4096, 16384, 100'000}) {
    for (const unsigned share : {0u, 1u, 10u, 40u, 60u, 99u, 100u}) {
      for (const std::uint64_t run : {1, 40, 3000}) {
        std::vector<bool> missing;
        for (std::uint64_t at = 0; at * run < static_cast<std::uint64_t>(count); ++at) {
          missing.insert(missing.end(), run, random() % 100 < share);
        }
        const auto values = values_of(count, [&](std::uint64_t at) { return missing[at]; });
        Bytes payload = mask_of(values);
        const std::size_t own = payload.size();
        payload.push_back(std::byte{0xFF});  // the codec's
        const auto mask = read_mask(payload, count);
        ASSERT_TRUE(mask.ok()) << mask.status().message();
        EXPECT_EQ(mask->bytes(), own);
        auto back = values_of(count, [](std::uint64_t) { return false; });
        store_missing(*mask, Dtype::kF32, kFill, reinterpret_cast<std::byte*>(back.data()));
        EXPECT_EQ(back, values) << count << " " << share << " " << run;
      }
    }
  }
}

TEST(Missing, MasksAreAsThePageSays) {
  const auto at = [](std::uint64_t from, std::uint64_t to) {
    return [=](std::uint64_t each) { return each >= from && each < to; };
  };
  EXPECT_EQ(mask_of(values_of(1000, at(0, 0))), bytes_of({0}));
  EXPECT_EQ(mask_of(values_of(1000, at(0, 1000))), bytes_of({1}));
  EXPECT_EQ(mask_of(values_of(1000, at(0, 5))), bytes_of({2, 0, 5, 0xE3, 0x07}));
  EXPECT_EQ(mask_of(values_of(1000, at(300, 1000))), bytes_of({2, 0xAC, 0x02, 0xBC, 0x05}));
  // Every second one of ten: ten runs are longer than ten bits.
  EXPECT_EQ(mask_of(values_of(10, [](std::uint64_t each) { return each % 2 == 0; })),
            bytes_of({3, 0x55, 0x01}));
}

TEST(Missing, HolesAreClosedByLines) {
  const float hole = float_of(kFill), inf = std::numeric_limits<float>::infinity();
  const float most = std::numeric_limits<float>::max();
  const auto closed = [](const std::vector<float>& values, std::uint64_t row) {
    std::vector<float> out(values.size(), 77);
    close_holes(
        {reinterpret_cast<const std::byte*>(values.data()), values.size(), row, Dtype::kF32, kFill},
        reinterpret_cast<std::byte*>(out.data()));
    return out;
  };
  using Values = std::vector<float>;
  EXPECT_EQ(closed({1, hole, 3, hole, hole, hole, 5}, 7), (Values{1, 2, 3, 3.5, 4, 4.5, 5}));
  EXPECT_EQ(closed({hole, hole, 3, hole}, 4), (Values{3, 3, 3, 3}));
  EXPECT_EQ(closed({0.1f, hole, hole, 0.1f}, 4), (Values{0.1f, 0.1f, 0.1f, 0.1f}));
  // Rows end a line, and those without values follow others.
  EXPECT_EQ(closed({1, hole, hole, 4}, 2), (Values{1, 1, 4, 4}));
  EXPECT_EQ(closed({hole, hole, 1, 2, hole, hole, 3, hole}, 2), (Values{1, 2, 1, 2, 1, 2, 3, 3}));
  // A line that no number has: the value before.
  EXPECT_EQ(closed({inf, hole, 4}, 3), (Values{inf, inf, 4}));
  EXPECT_EQ(closed({most, hole, -most}, 3), (Values{most, most, -most}));
}

TEST(Missing, WrongMasksAreRefused) {
  const auto code = [](const Bytes& payload, std::uint64_t count) {
    return read_mask(payload, count).status().code();
  };
  const Bytes wrong[] = {
      {},             // nothing
      bytes_of({4}),  // of no kind
      bytes_of({0xFF, 0, 0, 0}),
      bytes_of({2}),        // no runs
      bytes_of({2, 0x80}),  // a length that is cut short
      bytes_of({2, 5}),     // too few values
      bytes_of({2, 5, 6}),  // too many
      bytes_of({2, 11}),
      bytes_of({2, 5, 0, 5}),  // an empty run after the first
      bytes_of({2, 0, 0, 10}),
      bytes_of({2, 0x8A, 0x00}),  // a length with a byte too many
      bytes_of({2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}),
      bytes_of({2, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}),
      bytes_of({3, 0xFF}),        // bits that are cut short
      bytes_of({3, 0xFF, 0x04}),  // a bit of no value
  };
  for (const Bytes& each : wrong) EXPECT_EQ(code(each, 10), StatusCode::kDamaged) << each.size();
  EXPECT_EQ(code(bytes_of({2, 10}), 10), StatusCode::kOk);
  EXPECT_EQ(code(bytes_of({2, 0, 10}), 10), StatusCode::kOk);
  EXPECT_EQ(code(bytes_of({3, 0xFF, 0x03}), 10), StatusCode::kOk);
}

// Whatever the bytes are, nothing is written outside the chunk.
TEST(Missing, RandomMasksStayInTheirChunk) {
  std::mt19937 random(9);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t count = 1 + random() % 300;
    Bytes payload(random() % 60);
    for (std::byte& each : payload) each = static_cast<std::byte>(random() % 64);
    if (!payload.empty()) payload[0] = static_cast<std::byte>(random() % 5);
    const auto mask = read_mask(payload, count);
    if (!mask.ok()) continue;
    ASSERT_LE(mask->bytes(), payload.size());
    std::vector<std::uint16_t> out(count + 8, 0xC5C5);
    store_missing(*mask, Dtype::kF16, 1, reinterpret_cast<std::byte*>(out.data()));
    EXPECT_EQ(std::count(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), 0xC5C5), 8);
  }
}

}  // namespace
}  // namespace thinwire::message
