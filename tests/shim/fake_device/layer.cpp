// The core's device layer for a shim under test, over the test program's fake device memory: the
// linker puts these functions in the place of the core's (--wrap). What the real ones demand of
// their arguments is demanded here; a failure can be ordered by name.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "memory.h"
#include "thinwire/thinwire.h"

namespace {

const FakeDeviceMemory* memory() {
  using Find = const FakeDeviceMemory* (*)();
  static const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "fake_device_memory"));
  return find == nullptr ? nullptr : find();
}

bool is_device(const void* pointer) {
  const FakeDeviceMemory* all = memory();
  return all != nullptr && pointer >= all->device && pointer < all->device + all->bytes;
}

// The address at which the bytes of `pointer` can be touched.
char* reach(const void* pointer) {
  char* at = static_cast<char*>(const_cast<void*>(pointer));
  return is_device(pointer) ? memory()->mirror + (at - memory()->device) : at;
}

tw_collective reach(tw_collective collective) {
  collective.send = reach(collective.send);
  collective.receive = reach(collective.receive);
  return collective;
}

// FAKE_DEVICE_FAULT names what fails, every time.
bool broken(const char* what) {
  static const char* const fault = std::getenv("FAKE_DEVICE_FAULT");
  return fault != nullptr && std::strcmp(fault, what) == 0;
}

struct Scratch {
  std::uint64_t bytes;
  bool device;
};
std::mutex g_mutex;
std::map<void*, Scratch> g_loans;
std::set<void*> g_host_loans;
std::multimap<std::uint64_t, char*> g_idle;  // device scratch
std::uint64_t g_device_used = 0;

bool is_pinned(const void* pointer) {
  const std::lock_guard lock(g_mutex);
  auto after = g_loans.upper_bound(const_cast<void*>(pointer));
  if (after == g_loans.begin()) return false;
  const auto& [start, scratch] = *--after;
  return !scratch.device && pointer < static_cast<char*>(start) + scratch.bytes;
}

char* device_scratch(std::uint64_t bytes) {
  const auto idle = g_idle.lower_bound(bytes);
  if (idle != g_idle.end()) {
    char* at = idle->second;
    g_idle.erase(idle);
    return at;
  }
  const std::uint64_t half = memory()->bytes / 2;
  if (g_device_used + bytes > half) std::abort();
  char* at = memory()->device + half + g_device_used;
  g_device_used += (bytes + 255) / 256 * 256;
  return at;
}

// Pinned memory of a few bytes, as close together as a heap packs it: a call's two sides, one of
// which begins at a distance from its first byte, may then be at one address.
struct Close {
  static constexpr std::uint64_t kMost = 32, kPlaces = 4096;
  alignas(64) char bytes[kMost * kPlaces];
  std::uint64_t next = 0, used = 0;

  bool has(const void* at) const { return at >= bytes && at < bytes + sizeof bytes; }
  char* take() {
    if (used == 0) next = 0;
    if (next == kPlaces) return nullptr;
    ++used;
    return bytes + kMost * next++;
  }
};
Close g_close;

void* pinned_scratch(std::uint64_t bytes) {
  char* const close = bytes <= Close::kMost ? g_close.take() : nullptr;
  return close != nullptr ? close : std::malloc(bytes);
}

[[noreturn]] void misused(const char* what) {
  std::fprintf(stderr, "fake device: %s\n", what);
  std::abort();
}

}  // namespace

struct tw_layout {
  std::vector<tw_segment> segments;
  std::int64_t extent;
};

// A copy happens when it is finished: whoever forgets that, or frees a side before, is found out.
struct tw_copy {
  void* destination;
  const void* source;
  std::uint64_t bytes;
};

namespace {

template <typename Move>
void walk(const tw_layout& layout, char* elements, std::uint64_t bytes, Move&& move) {
  for (std::uint64_t done = 0; done < bytes; elements += layout.extent) {
    if (layout.segments.empty()) misused("a stream longer than an empty layout");
    for (const tw_segment& segment : layout.segments) {
      const std::uint64_t part = std::min(segment.bytes, bytes - done);
      if (part == 0) return;
      move(elements + segment.offset, done, part);
      done += part;
    }
  }
}

}  // namespace

extern "C" {

tw_status __real_tw_scratch_acquire(tw_memory, int32_t, uint64_t, void**);
void __real_tw_scratch_release(void*);
tw_status __real_tw_message_encode(const tw_codec*, const tw_shape*, const void*, void*, uint64_t,
                                   const tw_message_options*, uint64_t*);
tw_status __real_tw_message_decode(const void*, uint64_t, void*, uint64_t,
                                   const tw_message_options*, tw_message_info*);
tw_status __real_tw_comm_plan(tw_comm*, const tw_collective*, tw_collective_report*);
tw_status __real_tw_comm_run(tw_comm*, const tw_collective*, tw_collective_report*);
const char* __real_tw_last_error(void);

uint32_t __wrap_tw_on_device(const void* pointer) { return is_device(pointer) ? 1 : 0; }

tw_status __wrap_tw_place_of(const void* pointer, tw_place* place) {
  if (is_device(pointer) && broken("place")) return TW_UNSUPPORTED;
  place->memory = is_device(pointer)   ? TW_MEMORY_DEVICE
                  : is_pinned(pointer) ? TW_MEMORY_PINNED
                                       : TW_MEMORY_HOST;
  place->device = is_device(pointer) ? 0 : -1;
  return TW_OK;
}

tw_status __wrap_tw_memory_copy(void* destination, const void* source, uint64_t bytes) {
  if (broken("copy")) return TW_DEVICE;
  std::memcpy(reach(destination), reach(source), bytes);
  return TW_OK;
}

tw_status __wrap_tw_memory_copy_start(void* destination, const void* source, uint64_t bytes,
                                      tw_copy** copy) {
  if (broken("start")) return TW_DEVICE;
  *copy = new tw_copy{destination, source, bytes};
  return TW_OK;
}

tw_status __wrap_tw_copy_finish(tw_copy* copy) {
  const tw_copy order = *copy;
  delete copy;
  return __wrap_tw_memory_copy(order.destination, order.source, order.bytes);
}

tw_status __wrap_tw_scratch_acquire(tw_memory kind, int32_t, uint64_t bytes, void** scratch) {
  if (kind == TW_MEMORY_HOST) {
    const tw_status status = __real_tw_scratch_acquire(kind, -1, bytes, scratch);
    const std::lock_guard lock(g_mutex);
    if (status == TW_OK) g_host_loans.insert(*scratch);
    return status;
  }
  const bool device = kind == TW_MEMORY_DEVICE;
  if (broken(device ? "device" : "pinned")) return TW_DEVICE;
  const std::lock_guard lock(g_mutex);
  *scratch = device ? device_scratch(bytes) : pinned_scratch(bytes);
  g_loans[*scratch] = {bytes, device};
  return TW_OK;
}

void __wrap_tw_scratch_release(void* scratch) {
  const std::lock_guard lock(g_mutex);
  if (g_host_loans.erase(scratch) != 0) return __real_tw_scratch_release(scratch);
  const auto loan = g_loans.find(scratch);
  if (loan == g_loans.end()) misused("scratch that nobody borrowed is given back");
  if (loan->second.device)
    g_idle.emplace(loan->second.bytes, static_cast<char*>(scratch));
  else if (g_close.has(scratch))
    --g_close.used;
  else
    std::free(scratch);
  g_loans.erase(loan);
}

tw_status __wrap_tw_layout_create(const tw_segment* segments, uint64_t count, int64_t extent,
                                  tw_layout** layout) {
  *layout = new tw_layout{{segments, segments + count}, extent};
  return TW_OK;
}

void __wrap_tw_layout_destroy(tw_layout* layout) { delete layout; }

tw_status __wrap_tw_layout_pack(const tw_layout* layout, const void* source, void* destination,
                                uint64_t bytes) {
  if (!is_device(source)) misused("packing from memory that is no GPU's");
  if (!is_device(destination) && !is_pinned(destination)) misused("packing to pageable memory");
  if (broken("copy")) return TW_DEVICE;
  walk(*layout, reach(source), bytes, [&](char* element, uint64_t at, uint64_t part) {
    std::memcpy(reach(destination) + at, element, part);
  });
  return TW_OK;
}

tw_status __wrap_tw_layout_unpack(const tw_layout* layout, const void* source, void* destination,
                                  uint64_t bytes) {
  if (!is_device(destination)) misused("unpacking to memory that is no GPU's");
  if (!is_device(source) && !is_pinned(source)) misused("unpacking from pageable memory");
  if (broken("copy")) return TW_DEVICE;
  walk(*layout, reach(destination), bytes, [&](char* element, uint64_t at, uint64_t part) {
    std::memcpy(element, reach(source) + at, part);
  });
  return TW_OK;
}

tw_status __wrap_tw_message_encode(const tw_codec* codec, const tw_shape* shape, const void* source,
                                   void* destination, uint64_t capacity,
                                   const tw_message_options* options, uint64_t* written) {
  if (is_device(source) && !is_pinned(destination) && !is_device(destination)) {
    misused("encoding to pageable memory");
  }
  if (is_device(source) && broken("encode")) return TW_DEVICE;
  return __real_tw_message_encode(codec, shape, reach(source), reach(destination), capacity,
                                  options, written);
}

tw_status __wrap_tw_message_decode(const void* source, uint64_t length, void* destination,
                                   uint64_t capacity, const tw_message_options* options,
                                   tw_message_info* info) {
  if (is_device(destination) && broken("decode")) return TW_DEVICE;
  return __real_tw_message_decode(reach(source), length, reach(destination), capacity, options,
                                  info);
}

// A plan looks at buffers for where they lie alone: here always on the host.
tw_status __wrap_tw_comm_plan(tw_comm* comm, const tw_collective* collective,
                              tw_collective_report* report) {
  const tw_collective reached = reach(*collective);
  return __real_tw_comm_plan(comm, &reached, report);
}

tw_status __wrap_tw_comm_run(tw_comm* comm, const tw_collective* collective,
                             tw_collective_report* report) {
  const tw_collective reached = reach(*collective);
  return __real_tw_comm_run(comm, &reached, report);
}

const char* __wrap_tw_last_error(void) {
  const char* fault = std::getenv("FAKE_DEVICE_FAULT");
  return fault == nullptr ? __real_tw_last_error() : fault;
}

}  // extern "C"
