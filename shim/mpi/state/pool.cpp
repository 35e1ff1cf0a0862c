#include "shim/mpi/state/pool.h"

#include <sys/mman.h>

#include "shim/mpi/state/unlinked_file.h"

namespace thinwire::mpi {

void Lease::give_back() {
  if (kind_ == Kind::kMapped) {
    munmap(data_, mapped_bytes_);
  } else {
    tw_scratch_release(data_);
  }
}

Lease acquire_scratch(tw_memory memory, int device, std::uint64_t bytes) {
  void* data = nullptr;
  if (tw_scratch_acquire(memory, device, bytes, &data) != TW_OK) return {};
  return {memory == TW_MEMORY_HOST ? Lease::Kind::kHost : Lease::Kind::kOfGpus, data};
}

// If the system has no memory to promise, as under a limit on a process' data, it has pages of a
// file: what does not fit stays on the disk.
Lease Pool::acquire(std::uint64_t bytes) {
  Lease scratch = acquire_scratch(TW_MEMORY_HOST, -1, bytes);
  if (scratch) return scratch;
  mapped_.fetch_add(1, std::memory_order_relaxed);
  const UnlinkedFile file(bytes);
  return {Lease::Kind::kMapped, file ? file.map() : nullptr, bytes};
}

std::uint64_t Pool::allocations() const {
  return describe_pool(TW_MEMORY_HOST, -1).allocations + mapped_.load(std::memory_order_relaxed);
}

tw_pool_counters describe_pool(tw_memory memory, int device) {
  tw_pool_counters counters{};
  counters.size = sizeof counters;
  tw_pool_describe(memory, device, &counters);
  return counters;
}

}  // namespace thinwire::mpi
