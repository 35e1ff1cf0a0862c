// Scratch memory from the library's pools, copies between places, and what GPUs there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "thinwire/cpp/error.hpp"

namespace thinwire {

// Memory on loan from the pool of a kind, see tw_scratch_acquire(); gives itself back. For
// TW_MEMORY_DEVICE name the GPU; -1 is for the kinds of host memory.
class Scratch {
 public:
  Scratch(tw_memory memory, std::uint64_t bytes, std::int32_t device = -1) : bytes_(bytes) {
    void* data = nullptr;
    check(tw_scratch_acquire(memory, device, bytes, &data));
    data_.reset(static_cast<std::byte*>(data));
  }

  std::span<std::byte> bytes() const noexcept { return {data_.get(), bytes_}; }
  std::byte* data() const noexcept { return data_.get(); }

 private:
  struct Release {
    void operator()(std::byte* data) const { tw_scratch_release(data); }
  };
  std::unique_ptr<std::byte, Release> data_;
  std::uint64_t bytes_;
};

// Throws where there is no GPU, with the cause.
inline std::uint32_t device_count() {
  std::uint32_t count = 0;
  check(tw_device_count(&count));
  return count;
}

inline tw_place place_of(const void* pointer) {
  auto place = sized<tw_place>();
  check(tw_place_of(pointer, &place));
  return place;
}

// Between any two places; complete on return. `to` has at least the bytes of `from`.
inline void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (to.size() < from.size()) throw Error(TW_TOO_SMALL, "the copy does not fit");
  check(tw_memory_copy(to.data(), from.data(), from.size()));
}

}  // namespace thinwire
