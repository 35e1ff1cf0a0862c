#include "run/memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

// From so much on the core pins pages of its own, which stay readable when CUDA has ended.
constexpr std::uint64_t kSlabBytes = 4 << 20;
constexpr std::uint64_t kLeastShared = 256;

// Places of working memory: on a device, by its number, or in what is pinned of the host's. If
// streams are queues of host functions there is one kind of memory.
constexpr int kPinned = -2;

tw_memory kind_of(int place) {
  if (place == kHostOnly) return TW_MEMORY_HOST;
  return place == kPinned ? TW_MEMORY_PINNED : TW_MEMORY_DEVICE;
}

struct Piece {
  void* memory;
  std::uint64_t bytes;
};

struct Taken {
  int place;
  std::uint64_t bytes;
};

struct Slabs {
  std::map<std::uint64_t, std::vector<void*>> idle;  // by size
  std::byte* next = nullptr;
  std::uint64_t left = 0;
};

// The thread that serves mailboxes gives back under the same mutex, and what allocates may wait for
// a GPU that waits for that thread: nothing is allocated under it.
struct Memory {
  std::mutex mutex;
  std::map<int, std::vector<Piece>> idle;  // working memory, by place
  std::map<void*, Taken> taken;
  Slabs pinned, host;
};

// Never destroyed: calls may be under way when the process ends.
Memory& memory() {
  static Memory* const made = new Memory;
  return *made;
}

void* acquire(tw_memory kind, int device, std::uint64_t bytes) {
  void* made = nullptr;
  return tw_scratch_acquire(kind, device, bytes, &made) == TW_OK ? made : nullptr;
}

std::uint64_t shared_size(std::uint64_t bytes) {
  return std::bit_ceil(std::max(bytes, kLeastShared));
}

Slabs& slabs_of(int device) { return device == kHostOnly ? memory().host : memory().pinned; }

// The smallest of so many bytes at the least and at the most.
bool take_idle(std::vector<Piece>& idle, std::uint64_t least, std::uint64_t most, Piece* found) {
  auto best = idle.end();
  for (auto at = idle.begin(); at != idle.end(); ++at) {
    const bool fits = at->bytes >= least && at->bytes <= most;
    if (fits && (best == idle.end() || at->bytes < best->bytes)) best = at;
  }
  if (best == idle.end()) return false;
  *found = *best;
  idle.erase(best);
  return true;
}

// Takes memory that lies idle, as take_idle().
bool take_again(int place, std::uint64_t least, std::uint64_t most, Piece* found) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  if (!take_idle(all.idle[place], least, most, found)) return false;
  all.taken[found->memory] = {place, found->bytes};
  return true;
}

bool take_new(int place, std::uint64_t bytes, Piece* made) {
  *made = {acquire(kind_of(place), std::max(place, 0), bytes), bytes};
  if (made->memory == nullptr) return false;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  all.taken[made->memory] = {place, bytes};
  return true;
}

void* take_at(int place, std::uint64_t bytes, std::uint64_t* got) {
  Piece found{};
  // Calls of growing size would otherwise each take memory of their own.
  const std::uint64_t rounded = std::max(bytes, std::bit_ceil(bytes) / 4 * 3);
  // Most of what is larger by far would lie idle.
  const bool has = take_again(place, bytes, 4 * bytes, &found) ||
                   take_new(place, rounded, &found) || take_again(place, bytes, UINT64_MAX, &found);
  if (!has) return nullptr;
  *got = found.bytes;
  return found.memory;
}

// Takes one of those; null: there is not so much.
void* take_of(Slabs& slabs, std::uint64_t size) {
  const std::lock_guard lock(memory().mutex);
  auto& idle = slabs.idle[size];
  if (!idle.empty()) {
    void* const found = idle.back();
    idle.pop_back();
    return found;
  }
  if (slabs.left < size) return nullptr;
  void* const made = slabs.next;
  slabs.next += size;
  slabs.left -= size;
  return made;
}

}  // namespace

void* take_working(int device, std::uint64_t bytes, std::uint64_t* got) {
  return take_at(device, bytes, got);
}

void* take_working_on_host(int device, std::uint64_t bytes, std::uint64_t* got) {
  return take_at(device == kHostOnly ? kHostOnly : kPinned, bytes, got);
}

void* take_exactly(int device, std::uint64_t bytes) {
  Piece made{};
  return take_new(device, bytes, &made) ? made.memory : nullptr;
}

bool lies_idle(int device, std::uint64_t bytes) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto fits = [&](const Piece& each) { return each.bytes >= bytes; };
  return std::ranges::any_of(all.idle[device], fits);
}

void give_working(void* given) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.taken.find(given);
  if (found == all.taken.end()) return;
  const auto [place, bytes] = found->second;
  all.idle[place].push_back({given, bytes});
  all.taken.erase(found);
}

void give_idle() {
  std::map<int, std::vector<Piece>> idle;
  {
    Memory& all = memory();
    const std::lock_guard lock(all.mutex);
    idle.swap(all.idle);
  }
  for (const auto& [place, pieces] : idle) {
    for (const Piece& each : pieces) tw_scratch_release(each.memory);
  }
}

void* take_shared(int device, std::uint64_t bytes) {
  const std::uint64_t size = shared_size(bytes);
  if (size > kSlabBytes) return nullptr;
  Slabs& slabs = slabs_of(device);
  if (void* const found = take_of(slabs, size)) return found;
  const tw_memory kind = device == kHostOnly ? TW_MEMORY_HOST : TW_MEMORY_PINNED;
  void* const slab = acquire(kind, 0, kSlabBytes);
  if (slab == nullptr) return nullptr;
  const std::lock_guard lock(memory().mutex);
  // Another thread may have come first: the larger rest is kept.
  if (kSlabBytes - size >= slabs.left) {
    slabs.next = static_cast<std::byte*>(slab) + size;
    slabs.left = kSlabBytes - size;
  }
  return slab;
}

void give_shared(int device, void* given, std::uint64_t bytes) {
  const std::lock_guard lock(memory().mutex);
  slabs_of(device).idle[shared_size(bytes)].push_back(given);
}

}  // namespace thinwire::nccl
