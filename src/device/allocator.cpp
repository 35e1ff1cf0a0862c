#include "device/allocator.h"

#include <atomic>

namespace thinwire::device {
namespace {

std::atomic<const Allocator*> current{nullptr};

}  // namespace

void set_allocator(const Allocator* allocator) {
  current.store(allocator == nullptr ? nullptr : new Allocator(*allocator));
}

const Allocator* current_allocator() { return current.load(std::memory_order_acquire); }

}  // namespace thinwire::device
