// Places of the bytes of a packed stream among the elements (host and device code), and the kernels
// that go through all of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "base/status.h"
#include "device/stream.h"

namespace thinwire::device {

// The part of a layout that kernels need; see MemoryLayout (memory_layout.h).
struct LayoutView {
  const std::int64_t* offsets;  // of each segment
  const std::uint64_t* starts;  // of each segment in the packed element; one more for the end
  std::uint64_t segments;
  std::uint64_t element_bytes;  // packed
  std::int64_t extent;          // from one element to the next
  std::uint64_t uniform_bytes;  // of every segment, if all are alike and evenly spaced; else 0
  std::int64_t uniform_stride;
};

// The distance from the first element to byte `at` of the packed stream.
THINWIRE_HOST_DEVICE inline std::int64_t address_of(const LayoutView& view, std::uint64_t at) {
  const std::uint64_t element = at / view.element_bytes;
  const std::uint64_t rest = at - element * view.element_bytes;
  const std::int64_t base = static_cast<std::int64_t>(element) * view.extent;
  if (view.uniform_bytes != 0) {
    const std::uint64_t segment = rest / view.uniform_bytes;
    return base + view.offsets[0] + static_cast<std::int64_t>(segment) * view.uniform_stride +
           static_cast<std::int64_t>(rest - segment * view.uniform_bytes);
  }
  // The last segment that starts at or before the byte.
  std::uint64_t low = 0;
  std::uint64_t high = view.segments;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (view.starts[middle] <= rest) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return base + view.offsets[low] + static_cast<std::int64_t>(rest - view.starts[low]);
}

// Enqueue one kernel each; `unit` (1, 2, 4, 8 or 16) divides every address and size in it.
Status enqueue_pack(const LayoutView& view, const std::byte* elements, std::byte* packed,
                    std::uint64_t bytes, int unit, StreamHandle stream);
Status enqueue_unpack(const LayoutView& view, const std::byte* packed, std::byte* elements,
                      std::uint64_t bytes, int unit, StreamHandle stream);

}  // namespace thinwire::device
