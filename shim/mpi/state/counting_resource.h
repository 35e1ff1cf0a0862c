// Memory from the system, counted: what a steady state must not need.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory_resource>

namespace thinwire::mpi {

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

}  // namespace thinwire::mpi
