#include "device/pool_parts.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/log.h"

namespace thinwire::device {
namespace {

constexpr std::size_t kAlignment = 256;

struct Free {
  void operator()(std::byte* data) const { std::free(data); }
};
using Memory = std::unique_ptr<std::byte, Free>;

// Buffers that are to be freed, one after the other in their own first words: whoever gives memory
// back must not need any.
class Discarded {
 public:
  Discarded() = default;
  Discarded(const Discarded&) = delete;
  Discarded& operator=(const Discarded&) = delete;
  ~Discarded() {
    while (first_ != nullptr) {
      std::byte* const data = first_;
      std::memcpy(&first_, data, sizeof first_);
      std::free(data);
    }
  }

  void add(std::byte* data) {
    std::memcpy(data, &first_, sizeof first_);
    first_ = data;
  }

 private:
  std::byte* first_ = nullptr;
};

class HostPool {
 public:
  Result<Lease> acquire(std::uint64_t bytes);
  bool take_back(std::byte* data);
  PoolCounters counters();
  void set_idle_bound(std::uint64_t bytes);

 private:
  // At one address as long as there is the buffer.
  struct Owner {
    int size_class = 0;
    bool on_loan = true;
  };
  struct Buffer {
    std::byte* data;
    Owner* owner;
  };
  struct Class {
    std::vector<Buffer> idle;  // has room for all that are on loan
    std::size_t buffers = 0;
    std::uint64_t used = 0;  // when, in loans
  };

  Memory allocate(std::uint64_t bytes);
  Lease lend_new(Memory memory, int size_class);
  void discard_idle(Class& from, std::uint64_t bytes, Discarded& discarded);
  void make_idle_room(std::uint64_t bytes, Discarded& discarded);
  bool discard_all_idle(std::uint64_t least);

  std::mutex mutex_;  // of all below
  // A few messages of 128 MiB and more are under way at once in programs that have the memory for
  // them.
  std::uint64_t idle_bound_ = std::uint64_t{2} << 30;
  std::array<Class, kSizeClasses> classes_;
  std::unordered_map<std::byte*, Owner> owners_;
  PoolCounters counters_{};
};

Result<Lease> HostPool::acquire(std::uint64_t bytes) {
  const int size_class = class_of(bytes);
  if (size_class >= kSizeClasses) return {StatusCode::kInternal, "no memory is that large"};
  {
    const std::lock_guard lock(mutex_);
    Class& from = classes_[static_cast<std::size_t>(size_class)];
    if (!from.idle.empty()) {
      const Buffer buffer = from.idle.back();
      from.idle.pop_back();
      buffer.owner->on_loan = true;
      counters_.idle_bytes -= class_bytes(size_class);
      counters_.loaned_bytes += class_bytes(size_class);
      from.used = ++counters_.loans;
      return Lease(buffer.data);
    }
  }
  Memory memory = allocate(class_bytes(size_class));
  if (memory == nullptr) return {StatusCode::kInternal, "out of memory"};
  return lend_new(std::move(memory), size_class);
}

// Gives up what lies idle in other sizes, if it is as much, before the system's refusal is taken.
Memory HostPool::allocate(std::uint64_t bytes) {
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)));
  if (memory != nullptr || !discard_all_idle(bytes)) return memory;
  return Memory(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)));
}

Lease HostPool::lend_new(Memory memory, int size_class) {
  const std::lock_guard lock(mutex_);
  Class& to = classes_[static_cast<std::size_t>(size_class)];
  if (to.idle.capacity() <= to.buffers) to.idle.reserve(2 * to.buffers + 1);
  owners_[memory.get()] = {.size_class = size_class, .on_loan = true};
  ++to.buffers;
  ++counters_.allocations;
  counters_.loaned_bytes += class_bytes(size_class);
  counters_.note_peak();
  to.used = ++counters_.loans;
  return Lease(memory.release());
}

bool HostPool::take_back(std::byte* data) {
  Discarded discarded;  // freed after the lock is given back
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(data);
  if (found == owners_.end() || !found->second.on_loan) return false;
  Owner& owner = found->second;
  Class& to = classes_[static_cast<std::size_t>(owner.size_class)];
  const std::uint64_t bytes = class_bytes(owner.size_class);
  counters_.loaned_bytes -= bytes;
  if (bytes > idle_bound_) {
    --to.buffers;
    owners_.erase(found);
    discarded.add(data);
    return true;
  }
  make_idle_room(bytes, discarded);
  owner.on_loan = false;
  counters_.idle_bytes += bytes;
  to.idle.push_back({data, &owner});
  return true;
}

void HostPool::discard_idle(Class& from, std::uint64_t bytes, Discarded& discarded) {
  std::byte* const data = from.idle.back().data;
  from.idle.pop_back();
  --from.buffers;
  owners_.erase(data);
  counters_.idle_bytes -= bytes;
  discarded.add(data);
}

// For `bytes` bytes, of which the bound admits as many, at the cost of the sizes that were not
// asked for for longest.
void HostPool::make_idle_room(std::uint64_t bytes, Discarded& discarded) {
  while (counters_.idle_bytes + bytes > idle_bound_) {
    int oldest = -1;
    for (int each = 0; each < kSizeClasses; ++each) {
      const Class& one = classes_[static_cast<std::size_t>(each)];
      if (one.idle.empty()) continue;
      if (oldest < 0 || one.used < classes_[static_cast<std::size_t>(oldest)].used) oldest = each;
    }
    discard_idle(classes_[static_cast<std::size_t>(oldest)], class_bytes(oldest), discarded);
  }
}

void HostPool::set_idle_bound(std::uint64_t bytes) {
  Discarded discarded;
  const std::lock_guard lock(mutex_);
  idle_bound_ = bytes;
  make_idle_room(0, discarded);
}

// False, and nothing discarded, if it is not that much.
bool HostPool::discard_all_idle(std::uint64_t least) {
  Discarded discarded;
  const std::lock_guard lock(mutex_);
  if (counters_.idle_bytes < least) return false;
  for (int each = 0; each < kSizeClasses; ++each) {
    Class& one = classes_[static_cast<std::size_t>(each)];
    while (!one.idle.empty()) discard_idle(one, class_bytes(each), discarded);
  }
  return true;
}

PoolCounters HostPool::counters() {
  const std::lock_guard lock(mutex_);
  return counters_;
}

// Never destroyed: buffers may come back while the process ends.
HostPool& host_pool() {
  static auto* pool = new HostPool;
  return *pool;
}

}  // namespace

Result<Lease> acquire_host(std::uint64_t bytes) { return host_pool().acquire(bytes); }
bool take_back_host(std::byte* data) { return host_pool().take_back(data); }
PoolCounters host_counters() { return host_pool().counters(); }
void set_host_idle_bound(std::uint64_t bytes) { host_pool().set_idle_bound(bytes); }

void say_not_on_loan() {
  // Taken back again, it would be lent to two at once.
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    log(LogLevel::kError, "scratch memory that is not on loan was released; ignored");
  }
}

}  // namespace thinwire::device
