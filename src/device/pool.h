// Pools of pinned host memory and of device memory: the only raw allocation of either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "device/place.h"

namespace thinwire::device {

class Pool;

// One buffer on loan; gives itself back.
class Lease {
 public:
  Lease() = default;
  Lease(Pool* pool, std::byte* data, int size_class)
      : pool_(pool), data_(data), class_(size_class) {}
  Lease(Lease&& other) noexcept { swap(other); }
  Lease& operator=(Lease&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Lease();

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

  // Takes the buffer out of the lease; Pool::give_back() must see it again.
  std::byte* release() { return std::exchange(data_, nullptr); }
  Pool* pool() const { return pool_; }
  int size_class() const { return class_; }

 private:
  void swap(Lease& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(class_, other.class_);
  }
  Pool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  int class_ = 0;
};

struct PoolCounters {
  std::uint64_t idle_bytes;
  std::uint64_t loaned_bytes;
  std::uint64_t allocations;  // from the driver, since the start
  std::uint64_t loans;        // since the start
};

// The pool of pinned memory, or of device memory on one GPU; filled when first asked for. The bound
// limits idle memory alone: what a loan needs beyond it is allocated. kDevice where the driver
// refuses.
Result<Lease> acquire_pinned(std::uint64_t bytes);
Result<Lease> acquire_device(int device, std::uint64_t bytes);

Result<PoolCounters> describe_pool(Memory memory, int device);
void set_idle_bound(std::uint64_t bytes);

}  // namespace thinwire::device
