#include "device/places.h"

#include <cstring>

namespace thinwire::device {

void gather_on_host(const Places& places, const std::byte* array, std::byte* out) {
  for (std::uint64_t row = 0; row < places.all_rows(); ++row, out += places.row_bytes) {
    std::memcpy(out, array + places.row_offset(row), places.row_bytes);
  }
}

}  // namespace thinwire::device
