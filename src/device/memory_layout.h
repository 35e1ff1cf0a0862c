// Arrays with gaps: what a strided datatype describes, packed and unpacked on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/host_device.h"
#include "base/status.h"
#include "device/pool.h"
#include "device/stream.h"

namespace thinwire::device {

// The part of a MemoryLayout that kernels need: the places of the bytes of a packed stream among
// the elements, in host and device code.
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

// `bytes` bytes at `offset` from the start of an element.
struct Segment {
  std::int64_t offset;
  std::uint64_t bytes;
};

// An element's segments in the order of the packed stream. Immutable; the copy of it that a GPU
// needs is made at its first use there and kept.
class MemoryLayout {
 public:
  // kInvalidArgument if sizes overflow. Segments of no bytes are dropped, adjacent ones merged.
  static Result<std::unique_ptr<MemoryLayout>> create(const Segment* segments, std::uint64_t count,
                                                      std::int64_t extent);

  // Copies the first `bytes` bytes of the packed stream between `packed` and the elements at
  // `elements`, GPU memory; `packed` is GPU memory of the same device or pinned. Complete on
  // return.
  Status pack(const std::byte* elements, std::byte* packed, std::uint64_t bytes);
  Status unpack(const std::byte* packed, std::byte* elements, std::uint64_t bytes);

  std::uint64_t element_bytes() const { return view_.element_bytes; }

 private:
  template <typename Launch>
  Status run(const std::byte* elements, const std::byte* packed, std::uint64_t bytes,
             Launch&& launch);
  Result<LayoutView> view_on(int device);

  LayoutView view_{};  // pointers into the vectors below
  std::vector<std::int64_t> offsets_;
  std::vector<std::uint64_t> starts_;
  std::uint64_t alignment_ = 0;  // divides every offset, size and the extent; at most 16
  std::mutex mutex_;
  std::map<int, Lease> copies_;
};

}  // namespace thinwire::device
