// Parts of the pools (pool.h): the sizes that all keep, the host's, and what GPUs' are made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "device/pool.h"

namespace thinwire::device {

// Whether the buffer was on loan from the pool of host memory; it is back then.
bool take_back_host(std::byte* data);

PoolCounters host_counters();
void set_host_idle_bound(std::uint64_t bytes);

// Once: a buffer was given back that is not on loan.
void say_not_on_loan();

// Memory of the driver's, or of the program's. CUDA builds only.
struct Allocation {
  std::byte* data;
  std::uint64_t mapped_bytes = 0;   // of our own mapping of pinned memory; 0 for the driver's
  const Allocator* from = nullptr;  // of GPU memory that the program gave
};

// Page-locked host memory that all GPUs reach under its own address, aligned to 256 bytes; a
// context is current. Large pieces are mapped in huge pages and registered, which takes less than
// half the driver's time for pages of its own. kDevice if the driver refuses.
Result<Allocation> allocate_pinned(std::uint64_t bytes);
void free_pinned(const Allocation& memory);

// Memory of the GPU whose context is current, from `program` if there is one, aligned likewise.
Result<Allocation> allocate_on_device(const Allocator* program, int device, std::uint64_t bytes);
void free_on_device(const Allocation& memory, int device, std::uint64_t bytes);

// Sizes in which pools keep memory: four to a power of two, so that at most a fifth lies unused.
inline constexpr int kSmallestBits = 12;
inline constexpr int kSizeClasses = 4 * (56 - kSmallestBits);

// Bytes of a class: 4 KiB, 5 KiB, 6 KiB, 7 KiB, 8 KiB, 10 KiB, ...
constexpr std::uint64_t class_bytes(int size_class) {
  return static_cast<std::uint64_t>(4 + size_class % 4) << (kSmallestBits - 2 + size_class / 4);
}

// The smallest class that holds `bytes`; kSizeClasses if none does.
constexpr int class_of(std::uint64_t bytes) {
  if (bytes <= (std::uint64_t{1} << kSmallestBits)) return 0;
  const int exponent = std::bit_width(bytes - 1) - 1;
  if (exponent >= 56) return kSizeClasses;
  const auto quarter = static_cast<int>((bytes - 1) >> (exponent - 2)) & 3;
  const int size_class = 4 * (exponent - kSmallestBits) + quarter + 1;
  return size_class < kSizeClasses ? size_class : kSizeClasses;
}

}  // namespace thinwire::device
