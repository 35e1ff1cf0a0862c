// Arrays with gaps: what a strided datatype describes, packed and unpacked on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "device/layout_address.h"
#include "device/pool.h"
#include "device/stream.h"

namespace thinwire::device {

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
