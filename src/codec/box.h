// Where the values of one chunk lie in their array.
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

// Copies the values of a box to `out`, one behind the other, and back.
void gather(const std::byte* array, const Box& box, std::uint64_t value_bytes, std::byte* out);
void scatter(const std::byte* values, const Box& box, std::uint64_t value_bytes, std::byte* array);

}  // namespace thinwire::codec
