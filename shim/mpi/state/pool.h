// Scratch memory for wire messages, from the core's pools: fresh pages cost as much as a codec.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Memory from the system, counted: what a steady state must not need.

class CountingResource : public std::pmr::memory_resource {
 public:
  std::uint64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::atomic<std::uint64_t> allocations_{0};
};

// One buffer on loan; gives itself back. `data()` is nullptr if there was no memory.
class Lease {
 public:
  enum class Kind { kHost, kOfGpus, kMapped };

  Lease() = default;
  Lease(Kind kind, void* data, std::uint64_t mapped_bytes = 0)
      : kind_(kind), data_(data), mapped_bytes_(mapped_bytes) {}
  Lease(Lease&& other) noexcept { swap(other); }
  Lease& operator=(Lease&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Lease() {
    if (data_ != nullptr) give_back();
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  bool gpus_reach() const { return data_ != nullptr && kind_ == Kind::kOfGpus; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void give_back();
  void swap(Lease& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }
  Kind kind_ = Kind::kHost;
  void* data_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;  // of a file
};

// Lends at least `bytes` bytes of the core's scratch memory of a kind; an empty lease, and the
// reason in tw_last_error(), if there is none.
Lease acquire_scratch(tw_memory memory, int device, std::uint64_t bytes);

// Host memory. What lies idle is the core's, under its bound.
class Pool {
 public:
  // Lends at least `bytes` bytes, aligned to 64. If the system has no memory they are pages of a
  // file; an empty lease if there is no room for that either.
  Lease acquire(std::uint64_t bytes);

  // How often the system was asked for memory, by the core as well.
  std::uint64_t allocations() const;

 private:
  std::atomic<std::uint64_t> mapped_{0};
};

// The core's counts of a pool; all zeros if it has none.
tw_pool_counters describe_pool(tw_memory memory, int device);

}  // namespace thinwire::mpi
