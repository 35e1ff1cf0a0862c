#include "device/pool.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/context.h"
#include "device/pool_parts.h"

namespace thinwire::device {
namespace {

constexpr int kPinnedPool = -1;

// A few messages of 128 MiB and more are under way at once in programs that have the memory for
// them; what a GPU has is the program's own.
std::atomic<std::uint64_t> pinned_idle_bound{std::uint64_t{2} << 30};
std::atomic<std::uint64_t> device_idle_bound{std::uint64_t{512} << 20};

// Buffers that a pool holds from its first use on, so that first messages do not pay for them.
struct Fill {
  std::uint64_t bytes;
  int count;
};
constexpr Fill kFill[] = {{64u << 10, 8}, {1u << 20, 4}, {8u << 20, 2}};

class Pool;

// Facts about a buffer, at one address as long as there is the buffer.
struct Owner {
  Pool* pool = nullptr;
  int size_class = 0;
  Allocation memory{};
  std::atomic<bool> on_loan = false;  // whoever gives it back must have it
};

struct Buffer {
  std::byte* data;
  Owner* owner;
};

class Pool {
 public:
  explicit Pool(int device) : device_(device) {}

  Result<std::byte*> acquire(std::uint64_t bytes, bool fills);
  void give_back(const Buffer& buffer);
  bool park(std::uint64_t bytes);
  void unpark(std::uint64_t bytes);
  PoolCounters counters();

 private:
  std::uint64_t idle_bound() const {
    return device_ == kPinnedPool ? pinned_idle_bound : device_idle_bound;
  }
  Result<ContextGuard> enter() const;
  Result<Buffer> allocate(int size_class);
  void free(std::byte* data);
  void fill();

  const int device_;
  std::mutex mutex_;
  std::once_flag filled_;
  std::array<std::vector<Buffer>, kSizeClasses> idle_;
  PoolCounters counters_{};
};

// All buffers of all pools, on loan or idle. Never destroyed: buffers may come back while the
// process ends, after the driver has gone.
struct Pools {
  std::mutex mutex;
  std::unordered_map<int, std::unique_ptr<Pool>> by_device;
  std::unordered_map<std::byte*, Owner> owners;

  Pool& of(int device) {
    const std::lock_guard lock(mutex);
    auto& pool = by_device[device];
    if (pool == nullptr) pool = std::make_unique<Pool>(device);
    return *pool;
  }
};

Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

// Memory that is pinned belongs to the process, whichever GPU's context pinned it.
Result<ContextGuard> Pool::enter() const {
  return device_ == kPinnedPool ? ContextGuard::enter_any() : ContextGuard::enter(device_);
}

Result<Buffer> Pool::allocate(int size_class) {
  auto guard = enter();
  if (!guard.ok()) return guard.status();
  const std::uint64_t bytes = class_bytes(size_class);
  const auto memory = device_ == kPinnedPool
                          ? allocate_pinned(bytes)
                          : allocate_on_device(current_allocator(), device_, bytes);
  if (!memory.ok()) return memory.status();
  const std::lock_guard lock(pools().mutex);
  Owner& owner = pools().owners[memory->data];
  owner.pool = this;
  owner.size_class = size_class;
  owner.memory = *memory;
  return Buffer{memory->data, &owner};
}

void Pool::free(std::byte* data) {
  Allocation memory{};
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(pools().mutex);
    const Owner& owner = pools().owners[data];
    memory = owner.memory;
    bytes = class_bytes(owner.size_class);
    pools().owners.erase(data);
  }
  auto guard = enter();
  if (!guard.ok()) return;
  if (device_ == kPinnedPool) {
    free_pinned(memory);
  } else {
    free_on_device(memory, device_, bytes);
  }
}

void Pool::fill() {
  for (const Fill& step : kFill) {
    if (step.bytes * static_cast<std::uint64_t>(step.count) > idle_bound()) return;
    for (int made = 0; made < step.count; ++made) {
      auto data = allocate(class_of(step.bytes));
      if (!data.ok()) return;
      const std::lock_guard lock(mutex_);
      ++counters_.allocations;
      counters_.idle_bytes += class_bytes(class_of(step.bytes));
      counters_.note_peak();
      idle_[class_of(step.bytes)].push_back(*data);
    }
  }
}

Result<std::byte*> Pool::acquire(std::uint64_t bytes, bool fills) {
  const int size_class = class_of(bytes);
  if (size_class >= kSizeClasses) return {StatusCode::kDevice, "no memory is that large"};
  // A program's own allocator is as fast as this pool, and its memory is not ours to hoard.
  if (fills && (device_ == kPinnedPool || current_allocator() == nullptr)) {
    std::call_once(filled_, [this] { fill(); });
  }
  {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[size_class];
    if (!idle.empty()) {
      const Buffer buffer = idle.back();
      idle.pop_back();
      counters_.idle_bytes -= class_bytes(size_class);
      counters_.loaned_bytes += class_bytes(size_class);
      ++counters_.loans;
      buffer.owner->on_loan.store(true, std::memory_order_relaxed);
      return buffer.data;
    }
  }
  const auto buffer = allocate(size_class);
  if (!buffer.ok()) return buffer.status();
  buffer->owner->on_loan.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  ++counters_.allocations;
  ++counters_.loans;
  counters_.loaned_bytes += class_bytes(size_class);
  counters_.note_peak();
  return buffer->data;
}

void Pool::give_back(const Buffer& buffer) {
  const int size_class = buffer.owner->size_class;
  const std::uint64_t bytes = class_bytes(size_class);
  {
    const std::lock_guard lock(mutex_);
    counters_.loaned_bytes -= bytes;
    if (counters_.idle_bytes + bytes <= idle_bound()) {
      idle_[size_class].push_back(buffer);
      counters_.idle_bytes += bytes;
      return;
    }
  }
  free(buffer.data);
}

bool Pool::park(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (counters_.idle_bytes + bytes > idle_bound()) return false;
  counters_.loaned_bytes -= bytes;
  counters_.idle_bytes += bytes;
  return true;
}

void Pool::unpark(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  counters_.idle_bytes -= bytes;
  counters_.loaned_bytes += bytes;
}

PoolCounters Pool::counters() {
  const std::lock_guard lock(mutex_);
  return counters_;
}

// Whose the buffer is; nullptr if none is on loan at that address.
Owner* end_loan(std::byte* data) {
  const std::lock_guard lock(pools().mutex);
  const auto found = pools().owners.find(data);
  if (found == pools().owners.end() || !found->second.on_loan.exchange(false)) return nullptr;
  return &found->second;
}

// The owner of a buffer on loan.
Owner& owner_of(const Lease& lease) {
  const std::lock_guard lock(pools().mutex);
  return pools().owners.at(lease.data());
}

Result<Lease> acquire_from(int device, std::uint64_t bytes, bool fills) {
  auto data = pools().of(device).acquire(bytes, fills);
  if (!data.ok()) return data.status();
  return Lease(*data);
}

}  // namespace

void give_back(std::byte* data) {
  if (data == nullptr || take_back_host(data)) return;
  if (Owner* const owner = end_loan(data)) {
    owner->pool->give_back({data, owner});
    return;
  }
  say_not_on_loan();
}

bool park(const Lease& lease) {
  const Owner& owner = owner_of(lease);
  return owner.pool->park(class_bytes(owner.size_class));
}

void unpark(const Lease& lease) {
  const Owner& owner = owner_of(lease);
  owner.pool->unpark(class_bytes(owner.size_class));
}

Result<Lease> acquire_pinned(std::uint64_t bytes) { return acquire_from(kPinnedPool, bytes, true); }

Result<Lease> acquire_device(int device, std::uint64_t bytes, bool fills) {
  if (device < 0) return {StatusCode::kDevice, "there is no GPU " + std::to_string(device)};
  return acquire_from(device, bytes, fills);
}

PoolCounters describe_pool(Memory memory, int device) {
  if (memory == Memory::kHost) return host_counters();
  const std::lock_guard lock(pools().mutex);
  const auto found = pools().by_device.find(memory == Memory::kPinned ? kPinnedPool : device);
  return found == pools().by_device.end() ? PoolCounters{} : found->second->counters();
}

void set_idle_bound(std::uint64_t bytes) {
  pinned_idle_bound = device_idle_bound = bytes;
  set_host_idle_bound(bytes);
}

}  // namespace thinwire::device
