// A plain reading of spec/codec-lorenzo.md: every bit moved one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace thinwire::codec::testing {

// The brick and the place in it, 0 upwards, of the value at (z, y, x) of a chunk.
struct PlainPlace {
  std::size_t brick;
  std::size_t value;
};

// Extents of a chunk, slowest first, without the axes of one value that are not the fastest.
inline std::vector<std::size_t> counting_extents(const Shape& shape) {
  std::vector<std::size_t> extents;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const auto extent = static_cast<std::size_t>(shape.extent[static_cast<std::size_t>(axis)]);
    if (extent > 1 || axis + 1 == shape.rank) extents.push_back(extent);
  }
  return extents;
}

inline PlainPlace plain_place(const std::vector<std::size_t>& extents, std::size_t piece_values,
                              std::size_t z, std::size_t y, std::size_t x) {
  const auto bricks = [](std::size_t extent, std::size_t each) {
    return (extent + each - 1) / each;
  };
  if (extents.size() == 1) return {x / (8 * piece_values), x % (8 * piece_values)};
  const std::size_t along_x = bricks(extents.back(), piece_values);
  if (extents.size() == 2) {
    return {y / 8 * along_x + x / piece_values, y % 8 * piece_values + x % piece_values};
  }
  constexpr std::array<std::array<std::size_t, 4>, 2> kPiece = {{{0, 1, 4, 5}, {2, 3, 6, 7}}};
  const std::size_t along_y = bricks(extents[1], 4);
  return {(z / 2 * along_y + y / 4) * along_x + x / piece_values,
          kPiece[z % 2][y % 4] * piece_values + x % piece_values};
}

// Bits one after the other, the lowest of a byte first.
class PlainPlanes {
 public:
  void put(std::uint64_t value, int bits) {
    for (int bit = 0; bit < bits; ++bit, ++count_) {
      if (count_ % 8 == 0) bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> bit & 1) << count_ % 8);
    }
  }
  void fill_up(int bytes) {
    while (count_ % (8u * static_cast<unsigned>(bytes)) != 0) put(0, 1);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_ = 0;
};

// A half of a brick: its planes, lowest first, and how many bits each has.
struct PlainHalf {
  std::vector<std::uint64_t> planes;
  int bits = 0;

  std::size_t width() const {
    std::size_t width = planes.size();
    while (width > 0 && planes[width - 1] == 0) --width;
    return width;
  }
};

// The planes `first` to `last` - 1 of every step-th of the values.
template <typename Word>
PlainHalf plain_half(const std::vector<Word>& values, std::size_t begin, std::size_t end,
                     std::size_t step, int first, int last) {
  PlainHalf half;
  for (int plane = first; plane < last; ++plane) {
    std::uint64_t bits = 0;
    half.bits = 0;
    for (std::size_t at = begin; at < end; at += step) {
      bits |= static_cast<std::uint64_t>(values[at] >> plane & 1) << half.bits++;
    }
    half.planes.push_back(bits);
  }
  return half;
}

template <typename Word>
std::array<PlainHalf, 2> plain_halves(const std::vector<Word>& brick) {
  if constexpr (sizeof(Word) == 8) {
    return {plain_half(brick, 0, 16, 1, 0, 32), plain_half(brick, 0, 16, 1, 32, 64)};
  } else if constexpr (sizeof(Word) == 4) {
    return {plain_half(brick, 0, 16, 1, 0, 32), plain_half(brick, 16, 32, 1, 0, 32)};
  } else {
    return {plain_half(brick, 0, 64, 2, 0, 16), plain_half(brick, 1, 64, 2, 0, 16)};
  }
}

// The payload of one chunk.
template <typename Word>
std::vector<std::byte> plain_payload(const std::vector<Word>& values, const Shape& shape,
                                     std::size_t tuple) {
  constexpr int kBits = 8 * sizeof(Word);
  constexpr std::size_t kPiece = 16 / sizeof(Word);
  const auto extents = counting_extents(shape);
  const std::size_t x_count = extents.back();
  const std::size_t y_count = extents.size() > 1 ? extents[extents.size() - 2] : 1;
  const auto rotated = [&](std::size_t z, std::size_t y, std::size_t x) {
    const Word value = values[(z * y_count + y) * x_count + x];
    return static_cast<Word>(value << 1 | value >> (kBits - 1));
  };
  std::vector<std::vector<Word>> bricks;
  bool any = false;
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t x = at % x_count, y = at / x_count % y_count, z = at / x_count / y_count;
    Word residual = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
      const std::size_t dx = corner & 1 ? tuple : 0, dy = corner >> 1 & 1, dz = corner >> 2 & 1;
      if (x < dx || y < dy || z < dz) continue;
      const Word value = rotated(z - dz, y - dy, x - dx);
      const bool odd = (corner ^ corner >> 1 ^ corner >> 2) & 1;
      residual = static_cast<Word>(odd ? residual - value : residual + value);
    }
    const bool negative = residual >> (kBits - 1) != 0;
    const Word doubled = static_cast<Word>(residual << 1);
    const PlainPlace place = plain_place(extents, kPiece, z, y, x);
    if (place.brick >= bricks.size()) bricks.resize(place.brick + 1, std::vector<Word>(8 * kPiece));
    bricks[place.brick][place.value] = negative ? static_cast<Word>(~doubled) : doubled;
    any = any || residual != 0;
  }
  if (!any) return {};
  PlainPlanes widths, joint, single;
  for (const auto& brick : bricks) {
    const auto [a, b] = plain_halves(brick);
    widths.put(a.width() | b.width() << 6, 12);
    const std::size_t both = kBits == 16 ? 0 : std::min(a.width(), b.width());
    for (std::size_t plane = 0; plane < both; ++plane) {
      joint.put(a.planes[plane], a.bits);
      joint.put(b.planes[plane], b.bits);
    }
    PlainPlanes& rest = kBits == 16 ? joint : single;
    for (const PlainHalf* half : {&a, &b}) {
      for (std::size_t plane = both; plane < half->width(); ++plane) {
        rest.put(half->planes[plane], half->bits);
      }
    }
  }
  widths.fill_up(4);
  std::vector<std::byte> payload = widths.bytes();
  payload.insert(payload.end(), joint.bytes().begin(), joint.bytes().end());
  payload.insert(payload.end(), single.bytes().begin(), single.bytes().end());
  payload.resize((payload.size() + 7) / 8 * 8);
  return payload;
}

}  // namespace thinwire::codec::testing
