// Scratch memory for wire messages, kept between messages: fresh pages cost as much as a codec.
// Host memory comes from the pool here; memory that GPUs reach from the core's pools.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

class Pool;

// One buffer on loan; gives itself back. `data()` is nullptr where there was no memory.
class Lease {
 public:
  Lease() = default;
  Lease(Pool* pool, void* data, int size_class) : pool_(pool), data_(data), class_(size_class) {}
  Lease(Lease&& other) noexcept { swap(other); }
  Lease& operator=(Lease&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Lease();

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  bool gpus_reach() const { return data_ != nullptr && pool_ == nullptr; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void swap(Lease& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(class_, other.class_);
  }
  Pool* pool_ = nullptr;
  void* data_ = nullptr;
  int class_ = 0;
};

// At least `bytes` bytes of the core's scratch memory, pinned or on a GPU; an empty lease, and the
// reason in tw_last_error(), where there is none.
Lease acquire_scratch(tw_memory memory, int device, std::uint64_t bytes);

// Buffers of powers of two from 4 KiB, the most recently used first. The bound limits what lies
// idle, never what is on loan.
class Pool {
 public:
  Pool() = default;
  ~Pool();  // after its last lease
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void set_idle_bound(std::uint64_t bytes) { idle_bound_ = bytes; }

  // At least `bytes` bytes, aligned to 64. Where the system has no memory they are pages of a file;
  // an empty lease where there is no room for that either.
  Lease acquire(std::uint64_t bytes);

  // How often the system was asked.
  std::uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }

 private:
  friend class Lease;
  static constexpr int kClasses = 52;
  void give_back(void* data, int size_class);

  std::mutex mutex_;
  std::vector<void*> idle_[kClasses];
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t idle_bound_ = 0;
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace thinwire::mpi
