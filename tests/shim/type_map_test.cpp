#include "shim/mpi/native/type_map.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "random_elements.h"
#include "shim/mpi/native/element_bytes.h"

namespace thinwire::mpi {
namespace {

std::vector<tw_segment> grid(std::vector<Level> levels, std::uint64_t block) {
  std::vector<tw_segment> segments{{0, block}};
  for (const Level& level : levels) {
    std::vector<tw_segment> more;
    for (const tw_segment& segment : segments) {
      for (std::uint64_t at = 0; at < level.count; ++at) {
        more.push_back({segment.offset + static_cast<std::int64_t>(at) * level.stride, block});
      }
    }
    segments = std::move(more);
  }
  return segments;
}

TEST(TypeMap, RegularPatternsTakeNoListOfBlocks) {
  const TypeMap map(grid({{5, 4000}, {7, 400}, {9, 12}}, 8), 20000);
  ASSERT_EQ(map.levels().size(), 3u);
  EXPECT_EQ(map.segments().size(), 1u);
  EXPECT_EQ(map.levels()[0].count, 5u);
  EXPECT_EQ(map.levels()[1].stride, 400);
  EXPECT_EQ(map.levels()[2].count, 9u);
  EXPECT_EQ(map.bytes(), 5u * 7 * 9 * 8);
  EXPECT_EQ(map.high(), 4 * 4000 + 6 * 400 + 8 * 12 + 8);
}

TEST(TypeMap, OtherPatternsKeepTheirOrder) {
  const std::vector<tw_segment> segments{{40, 4}, {0, 4}, {12, 8}};
  const TypeMap map(segments, 64);
  EXPECT_TRUE(map.levels().empty());
  EXPECT_EQ(map.segments()[0].offset, 40);
  ASSERT_EQ(map.by_address().size(), 3u);
  EXPECT_EQ(map.by_address()[0].offset, 0);
  EXPECT_TRUE(TypeMap({{0, 8}, {20, 4}, {4, 8}}, 64).by_address().empty());  // bytes twice
}

TEST(TypeMap, AnEmptyElementHasNoBytes) {
  const TypeMap map({}, 16);
  std::uint64_t rows = 0;
  map.for_each_row(100, [&](auto...) { ++rows; });
  EXPECT_EQ(map.bytes() + rows, 0u);
}

// Every length of the stream, also one that ends inside a block of the last element.
TEST(TypeMap, GathersAndScattersInTheOrderOfTheStream) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::byte> memory(400);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random.below(256));
    const Pattern pattern = random_pattern(random, memory);
    const auto bytes = static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(pattern.bytes.size())));
    std::vector<std::byte> stream(bytes + 1, std::byte{0xEE});
    gather(pattern.elements, bytes, stream.data());
    for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(stream[at], *pattern.bytes[at]);
    ASSERT_EQ(stream[bytes], std::byte{0xEE});

    std::vector<std::byte> expected = memory;
    for (std::size_t at = 0; at < bytes; ++at) {
      stream[at] = static_cast<std::byte>(at);
      expected[static_cast<std::size_t>(pattern.bytes[at] - memory.data())] = stream[at];
    }
    scatter(stream.data(), bytes, pattern.elements);
    ASSERT_EQ(memory, expected);
  }
}

// Pieces of the stream in any order, of any length.
TEST(ElementBytes, ReadAndWriteFromAnyOffset) {
  Random random(12);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::byte> memory(400);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random.below(256));
    const Pattern pattern = random_pattern(random, memory);
    const auto size = static_cast<std::int64_t>(pattern.bytes.size());
    ElementBytes bytes(pattern.elements);
    for (int piece = 0; piece < 20; ++piece) {
      const std::int64_t first = random.between(0, size);
      const auto length = static_cast<std::size_t>(random.between(0, size - first));
      const auto offset = static_cast<std::size_t>(first);
      std::vector<std::byte> stream(length + 1, std::byte{0xEE});
      bytes.read(offset, length, stream.data());
      for (std::size_t at = 0; at < length; ++at) {
        ASSERT_EQ(stream[at], *pattern.bytes[offset + at]);
      }
      ASSERT_EQ(stream[length], std::byte{0xEE});
      std::vector<std::byte> expected = memory;
      for (std::size_t at = 0; at < length; ++at) {
        stream[at] = static_cast<std::byte>(random.below(256));
        expected[static_cast<std::size_t>(pattern.bytes[offset + at] - memory.data())] = stream[at];
      }
      bytes.write(offset, length, stream.data());
      ASSERT_EQ(memory, expected);
    }
  }
}

TEST(TypeMap, AddressesCountFromTheBottom) {
  std::vector<float> values(40);
  const auto place = reinterpret_cast<std::intptr_t>(values.data());
  const Elements elements{
      nullptr, std::make_shared<TypeMap>(std::vector<tw_segment>{{place, 8}, {place + 80, 8}}, 0)};
  const float sent[] = {1, 2, 3, 4};
  scatter(sent, sizeof sent, elements);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(values[20], 3);
  EXPECT_EQ(values[2], 0);
}

}  // namespace
}  // namespace thinwire::mpi
