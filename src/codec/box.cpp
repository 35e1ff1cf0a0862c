#include "codec/box.h"

#include <cstring>

namespace thinwire::codec {

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
