// Pools of host memory, of pinned host memory and of device memory: where the library takes what it
// works in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "device/place.h"

namespace thinwire::device {

// The program's functions as the source of GPU memory, in the place of the driver. Called with the
// GPU current, by any thread, while no lock of the library is held.
struct Allocator {
  void* context;
  // Not 0: there is no memory.
  std::int32_t (*allocate)(void* context, std::int32_t device, std::uint64_t bytes, void** memory);
  void (*release)(void* context, std::int32_t device, void* memory, std::uint64_t bytes);
};

// Sets the allocator from now on; memory that an earlier one gave goes back to that one. nullptr:
// the driver.
void set_allocator(const Allocator* allocator);

// nullptr: the driver. Never destroyed: buffers outlive the next set_allocator().
const Allocator* current_allocator();

// Takes a buffer of any pool back; nullptr is fine. One that is not on loan is passed over, and
// that is said once.
void give_back(std::byte* data);

// One buffer on loan; gives itself back.
class Lease {
 public:
  Lease() = default;
  explicit Lease(std::byte* data) : data_(data) {}
  Lease(Lease&& other) noexcept : data_(other.release()) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Lease() { give_back(data_); }

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

  // The buffer without its lease: give_back() must see it again.
  std::byte* release() { return std::exchange(data_, nullptr); }

 private:
  std::byte* data_ = nullptr;
};

struct PoolCounters {
  std::uint64_t idle_bytes;
  std::uint64_t loaned_bytes;
  std::uint64_t allocations;  // from the system or the driver, since the start
  std::uint64_t loans;        // since the start
  std::uint64_t peak_bytes;   // the most that were idle and on loan together

  void note_peak() {
    const std::uint64_t held = idle_bytes + loaned_bytes;
    if (held > peak_bytes) peak_bytes = held;
  }
};

// The pool of host memory, of pinned memory, or of device memory on one GPU. Pinned and device
// pools are filled at their first use, unless `fills` is false: the loan says nothing of what
// follows. The bound limits
// idle memory alone: what a loan needs beyond it is allocated. Aligned to 256 bytes. kInternal
// if the system has no memory, kDevice if the driver refuses.
Result<Lease> acquire_host(std::uint64_t bytes);
Result<Lease> acquire_pinned(std::uint64_t bytes);
Result<Lease> acquire_device(int device, std::uint64_t bytes, bool fills = true);

// Device memory that its holder keeps for later is idle as well: parked, it counts as such until it
// is taken up again. False, and nothing changed, if the pool keeps no more.
bool park(const Lease& lease);
void unpark(const Lease& lease);

// kHost, kPinned or kDevice; all zeros for a pool not used yet.
PoolCounters describe_pool(Memory memory, int device);

// Most bytes that each pool keeps idle; unless set, 2 GiB of host and of pinned memory and 512 MiB
// of each GPU's.
void set_idle_bound(std::uint64_t bytes);

}  // namespace thinwire::device
