// The missing values of a chunk: its mask, and the values that a codec sees in their place. See
// spec/frame.md, "Missing values".
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/status.h"

namespace thinwire::message {

// Most bytes of the mask of a chunk of `count` values.
constexpr std::uint64_t most_mask_bytes(std::uint64_t count) { return 1 + ceil_div(count, 8); }

// The values of a chunk, one after the other, in rows of its fastest axis; those are missing whose
// bits are `fill`.
struct Holed {
  const std::byte* values;
  std::uint64_t count;
  std::uint64_t row;  // values; a divisor of the count
  Dtype dtype;
  std::uint64_t fill;
};

std::uint64_t count_missing(const Holed& chunk);

// Writes the mask of a chunk that misses `missing` values; returns its bytes.
std::uint64_t write_mask(const Holed& chunk, std::uint64_t missing, std::byte* out);

// Copies the chunk, with a value in the place of each missing one: on the line between the two next
// to the hole in its row, or the one that there is. A row of which all are missing is that before
// it, and before the first other row that one. There is one value at least.
void close_holes(const Holed& chunk, std::byte* out);

// The mask that a payload begins with.
struct Mask {
  enum class Kind : std::uint8_t { kNone = 0, kAll = 1, kRuns = 2, kBits = 3 };
  Kind kind;
  ByteView coded;  // after the first byte
  std::uint64_t count;

  std::uint64_t bytes() const { return 1 + coded.size(); }
};

// kDamaged if the payload of a chunk of `count` values begins with none.
Result<Mask> read_mask(ByteView payload, std::uint64_t count);

// Stores `fill` in the place of each missing value.
void store_missing(const Mask& mask, Dtype dtype, std::uint64_t fill, std::byte* values);

}  // namespace thinwire::message
