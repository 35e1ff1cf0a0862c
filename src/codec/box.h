// The part of an array that one chunk covers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec {

// Up to three axes, x the fastest; an axis that the array lacks has extent 1.
struct Box {
  std::uint64_t offset;  // of its first value from the array's first, in values
  std::uint64_t row;     // from one value to the next along y, in values
  std::uint64_t plane;   // the same along z
  std::uint32_t x, y, z;

  THINWIRE_HOST_DEVICE std::uint32_t count() const { return x * y * z; }
  THINWIRE_HOST_DEVICE bool is_dense() const {
    return (y == 1 || row == x) && (z == 1 || plane == std::uint64_t{y} * x);
  }
};

// Calls visit(offset in the array, offset among the box's values, which follow one another without
// gaps) for each row along x; offsets are in bytes.
template <typename Visit>
void for_each_row(const Box& box, std::uint64_t value_bytes, Visit&& visit) {
  const std::uint64_t row_bytes = box.x * value_bytes;
  std::uint64_t inside = 0;
  for (std::uint32_t z = 0; z < box.z; ++z) {
    for (std::uint32_t y = 0; y < box.y; ++y, inside += row_bytes) {
      visit((box.offset + z * box.plane + y * box.row) * value_bytes, inside);
    }
  }
}

// Copies the values of a box to `out`, one after the other, and back.
void gather(const std::byte* array, const Box& box, std::uint64_t value_bytes, std::byte* out);
void scatter(const std::byte* values, const Box& box, std::uint64_t value_bytes, std::byte* array);

}  // namespace thinwire::codec
