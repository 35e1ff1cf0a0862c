// Random patterns of bytes as datatypes describe them, for tests of what works on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "shim/mpi/native/type_map.h"

namespace thinwire::mpi {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t end) { return between(0, end - 1); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool one_in(std::int64_t count) { return below(count) == 0; }
  template <typename Values>
  void shuffle(Values& values) {
    std::shuffle(values.begin(), values.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

// A receive's elements inside `memory`, and the addresses of its bytes in the order in which they
// travel, written down one by one.
struct Pattern {
  Elements elements;
  std::uint64_t count = 1;
  std::vector<std::byte*> bytes;
};

inline Pattern pattern_of(std::vector<tw_segment> segments, std::int64_t extent,
                          std::uint64_t count, std::byte* buffer) {
  Pattern pattern;
  pattern.elements.buffer = buffer;
  pattern.count = count;
  for (std::uint64_t element = 0; element < count; ++element) {
    for (const tw_segment& segment : segments) {
      std::byte* first = buffer + static_cast<std::int64_t>(element) * extent + segment.offset;
      for (std::uint64_t at = 0; at < segment.bytes; ++at) pattern.bytes.push_back(first + at);
    }
  }
  pattern.elements.map = std::make_shared<TypeMap>(std::move(segments), extent);
  return pattern;
}

inline Pattern random_range(Random& random, std::vector<std::byte>& memory) {
  const auto size = static_cast<std::int64_t>(memory.size());
  const std::int64_t bytes = random.between(1, size / 4);
  Pattern pattern;
  pattern.elements.buffer = memory.data() + random.between(0, size - bytes);
  pattern.bytes.resize(static_cast<std::size_t>(bytes));
  std::iota(pattern.bytes.begin(), pattern.bytes.end(),
            static_cast<std::byte*>(pattern.elements.buffer));
  return pattern;
}

// Columns of an array with rows of `row` bytes, as vectors and as elements that interleave.
inline Pattern random_columns(Random& random, std::vector<std::byte>& memory, std::int64_t row) {
  const auto rows = static_cast<std::int64_t>(memory.size()) / row;
  const std::int64_t first = random.below(rows), taken = random.between(1, rows - first);
  const std::int64_t width = random.between(1, row / 3), columns = random.between(1, 3);
  const std::int64_t place = random.between(0, row - width * columns);
  const bool upwards = random.one_in(4);
  std::vector<tw_segment> segments;
  for (std::int64_t at = 0; at < taken; ++at) {
    segments.push_back({(upwards ? taken - 1 - at : at) * row, static_cast<std::uint64_t>(width)});
  }
  return pattern_of(std::move(segments), width, static_cast<std::uint64_t>(columns),
                    memory.data() + first * row + place);
}

// A list without any regularity, in any order; elements follow one another.
inline Pattern random_list(Random& random, std::vector<std::byte>& memory) {
  std::vector<tw_segment> segments;
  std::int64_t end = random.below(4);
  for (std::int64_t left = random.between(1, 8); left > 0; --left) {
    const std::int64_t bytes = random.between(1, 5);
    segments.push_back({end, static_cast<std::uint64_t>(bytes)});
    end += bytes + random.between(1, 6);
  }
  if (random.one_in(2)) random.shuffle(segments);
  const std::int64_t extent = end + random.below(4), count = random.between(1, 2);
  const auto room = static_cast<std::int64_t>(memory.size()) - count * extent;
  return pattern_of(std::move(segments), extent, static_cast<std::uint64_t>(count),
                    memory.data() + random.between(0, room));
}

inline Pattern random_pattern(Random& random, std::vector<std::byte>& memory) {
  switch (random.below(4)) {
    case 0:
      return random_range(random, memory);
    case 1:
      return random_list(random, memory);
    default:
      return random_columns(random, memory, random.one_in(3) ? 24 : 32);
  }
}

}  // namespace thinwire::mpi
