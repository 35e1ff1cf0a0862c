// A few alike pieces of an array, copied one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/host_device.h"
#include "base/status.h"
#include "device/stream.h"

namespace thinwire::device {

inline constexpr std::uint32_t kMostPlaces = 64;

// Each place is `planes` times `rows` rows of `row_bytes` bytes, from its offset on.
struct Places {
  std::uint64_t offset[kMostPlaces];  // in bytes, of each place
  std::uint32_t count = 0;
  std::uint32_t planes = 1;
  std::uint32_t rows = 1;  // of a plane
  std::uint64_t row_bytes = 0;
  std::uint64_t plane_step = 0;  // from one plane to the next, in bytes
  std::uint64_t row_step = 0;

  THINWIRE_HOST_DEVICE std::uint64_t all_rows() const {
    return std::uint64_t{count} * planes * rows;
  }
  THINWIRE_HOST_DEVICE std::uint64_t bytes() const { return all_rows() * row_bytes; }

  // The offset in the array at which row `index` of all_rows() begins.
  THINWIRE_HOST_DEVICE std::uint64_t row_offset(std::uint64_t index) const {
    const std::uint64_t plane = index / rows;
    return offset[plane / planes] + plane % planes * plane_step + index % rows * row_step;
  }
};

inline void gather_on_host(const Places& places, const std::byte* array, std::byte* out) {
  for (std::uint64_t row = 0; row < places.all_rows(); ++row, out += places.row_bytes) {
    std::memcpy(out, array + places.row_offset(row), places.row_bytes);
  }
}

// Both work in stream order, between places that the stream's device reaches.
Status enqueue_gather(const Places& places, const std::byte* array, std::byte* out,
                      StreamHandle stream);

}  // namespace thinwire::device
