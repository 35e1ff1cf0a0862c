#include "wire/pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

#include "wire/unlinked_file.h"

namespace thinwire::mpi {
namespace {

constexpr int kSmallestBits = 12;
constexpr int kMapped = 64;  // added to the class of what is a file's

std::uint64_t class_bytes(int size_class) {
  return std::uint64_t{1} << (kSmallestBits + size_class);
}

int class_of(std::uint64_t bytes) {
  const int bits = bytes <= 1 ? 0 : std::bit_width(bytes - 1);
  return bits <= kSmallestBits ? 0 : bits - kSmallestBits;
}

// Where the system has no memory to promise, as under a limit on a process' data, it has pages of a
// file: what does not fit stays on the disk.
void* map_file(std::uint64_t bytes) {
  const UnlinkedFile file(bytes);
  return file ? file.map() : nullptr;
}

}  // namespace

Lease::~Lease() {
  if (data_ == nullptr) return;
  if (pool_ != nullptr) {
    pool_->give_back(data_, class_);
  } else {
    tw_scratch_release(data_);
  }
}

Lease acquire_scratch(tw_memory memory, int device, std::uint64_t bytes) {
  void* data = nullptr;
  if (tw_scratch_acquire(memory, device, bytes, &data) != TW_OK) return {};
  return {nullptr, data, 0};
}

Pool::~Pool() {
  for (const auto& buffers : idle_) {
    for (void* data : buffers) std::free(data);
  }
}

Lease Pool::acquire(std::uint64_t bytes) {
  const int size_class = class_of(bytes);
  if (size_class >= kClasses) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!idle_[size_class].empty()) {
      void* data = idle_[size_class].back();
      idle_[size_class].pop_back();
      idle_bytes_ -= class_bytes(size_class);
      return {this, data, size_class};
    }
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  if (void* data = std::aligned_alloc(64, class_bytes(size_class))) return {this, data, size_class};
  return {this, map_file(class_bytes(size_class)), kMapped + size_class};
}

void Pool::give_back(void* data, int size_class) {
  if (size_class >= kMapped) {
    munmap(data, class_bytes(size_class - kMapped));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (idle_bytes_ + class_bytes(size_class) <= idle_bound_) {
      idle_[size_class].push_back(data);
      idle_bytes_ += class_bytes(size_class);
      return;
    }
  }
  std::free(data);
}

}  // namespace thinwire::mpi
