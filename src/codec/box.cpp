#include "codec/box.h"

#include <cstring>

namespace thinwire::codec {
namespace {

// Calls visit(offset in the array, offset in the box) for each row, in bytes.
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

}  // namespace

void gather(const std::byte* array, const Box& box, std::uint64_t value_bytes, std::byte* out) {
  for_each_row(box, value_bytes, [&](std::uint64_t at, std::uint64_t inside) {
    std::memcpy(out + inside, array + at, box.x * value_bytes);
  });
}

void scatter(const std::byte* values, const Box& box, std::uint64_t value_bytes, std::byte* array) {
  for_each_row(box, value_bytes, [&](std::uint64_t at, std::uint64_t inside) {
    std::memcpy(array + at, values + inside, box.x * value_bytes);
  });
}

}  // namespace thinwire::codec
