#include "device/pool.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace thinwire::device {
namespace {

std::atomic<const Allocator*> current{nullptr};

// All that there ever were: each may still have memory out.
const Allocator* kept(const Allocator& allocator) {
  static std::mutex mutex;
  static auto* const all = new std::deque<Allocator>;
  const std::lock_guard lock(mutex);
  return &all->emplace_back(allocator);
}

}  // namespace

void set_allocator(const Allocator* allocator) {
  current.store(allocator == nullptr ? nullptr : kept(*allocator), std::memory_order_release);
}

const Allocator* current_allocator() { return current.load(std::memory_order_acquire); }

}  // namespace thinwire::device
