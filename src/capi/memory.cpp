#include <cstring>
#include <memory>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "device/copy.h"
#include "device/memory_layout.h"
#include "device/place.h"
#include "device/pool.h"
#include "device/work_stream.h"

using namespace thinwire;
using namespace thinwire::capi;

struct tw_copy {
  device::StartedCopy copy;
};

struct tw_layout {
  std::unique_ptr<device::MemoryLayout> layout;
};

namespace {

static_assert(sizeof(device::Segment) == sizeof(tw_segment));

bool has_pool(tw_memory memory) {
  return memory == TW_MEMORY_HOST || memory == TW_MEMORY_PINNED || memory == TW_MEMORY_DEVICE;
}

}  // namespace

tw_status tw_place_of(const void* pointer, tw_place* place) {
  return guarded([&] {
    if (!has_size(place)) return misuse("tw_place_of: place is null or its size is not set");
    const auto found = device::place_of(pointer);
    if (!found.ok()) return report(found.status());
    Filled<tw_place> filled(place);
    filled->memory = static_cast<uint32_t>(found->memory);
    filled->device = found->device;
    filled->reserved = 0;
    return TW_OK;
  });
}

uint32_t tw_on_device(const void* pointer) { return device::on_device(pointer) ? 1 : 0; }

tw_status tw_device_count(uint32_t* count) {
  return guarded([&] {
    if (count == nullptr) return misuse("tw_device_count: null pointer");
    const auto devices = device::device_count();
    if (devices.ok()) *count = static_cast<uint32_t>(*devices);
    return report(devices.status());
  });
}

tw_status tw_memory_copy(void* destination, const void* source, uint64_t bytes) {
  return guarded([&] {
    if (bytes != 0 && (destination == nullptr || source == nullptr)) {
      return misuse("tw_memory_copy: null pointer");
    }
    return report(device::copy(destination, source, bytes));
  });
}

tw_status tw_memory_copy_start(void* destination, const void* source, uint64_t bytes,
                               tw_copy** begun) {
  return guarded([&] {
    if (begun == nullptr || (bytes != 0 && (destination == nullptr || source == nullptr))) {
      return misuse("tw_memory_copy_start: null pointer");
    }
    const auto device = device::device_of(destination, source);
    if (!device.ok()) return report(device.status());
    if (*device < 0) {
      std::memcpy(destination, source, bytes);
      *begun = nullptr;
      return TW_OK;
    }
    auto owned = Shells<tw_copy>::make();
    auto started = device::start_copy(destination, source, bytes, *device);
    if (!started.ok()) return report(started.status());
    owned->copy = *started;
    *begun = owned.release();
    return TW_OK;
  });
}

tw_status tw_copy_finish(tw_copy* begun) {
  return guarded([&] {
    if (begun == nullptr) return TW_OK;
    if (!is_open(begun)) return misuse("tw_copy_finish: the copy is finished already");
    const device::StartedCopy copy = begun->copy;
    if (!Shells<tw_copy>::close(begun)) return misuse("tw_copy_finish: two threads finish it");
    return report(device::finish_copy(copy));
  });
}

tw_status tw_scratch_acquire(tw_memory memory, int32_t device, uint64_t bytes, void** scratch) {
  return guarded([&] {
    if (scratch == nullptr || !has_pool(memory)) {
      return misuse("tw_scratch_acquire: null pointer, or memory not HOST, PINNED or DEVICE");
    }
    auto lease = memory == TW_MEMORY_HOST     ? device::acquire_host(bytes)
                 : memory == TW_MEMORY_PINNED ? device::acquire_pinned(bytes)
                                              : device::acquire_device(device, bytes);
    if (lease.ok()) *scratch = lease->release();
    return report(lease.status());
  });
}

void tw_scratch_release(void* scratch) { device::give_back(bytes_at(scratch)); }

tw_status tw_pool_describe(tw_memory memory, int32_t device, tw_pool_counters* counters) {
  return guarded([&] {
    if (!has_size(counters) || !has_pool(memory)) {
      return misuse("tw_pool_describe: null pointer, size not set, or no such pool");
    }
    const device::PoolCounters found =
        device::describe_pool(static_cast<device::Memory>(memory), device);
    give(tw_pool_counters{0, 0, found.idle_bytes, found.loaned_bytes, found.allocations,
                          found.loans, found.peak_bytes},
         counters);
    return TW_OK;
  });
}

void tw_pool_set_idle_bound(uint64_t bytes) { device::set_idle_bound(bytes); }

tw_status tw_pool_set_device_allocator(const tw_device_allocator* allocator) {
  return guarded([&] {
    if (allocator == nullptr) {
      device::set_allocator(nullptr);
      return TW_OK;
    }
    const Taken<tw_device_allocator> own(allocator);
    if (!own || own->allocate == nullptr || own->release == nullptr) {
      return misuse(
          "tw_pool_set_device_allocator: size not set, a field not known, or a function missing");
    }
    const device::Allocator program{own->context, own->allocate, own->release};
    device::set_allocator(&program);
    return TW_OK;
  });
}

tw_status tw_layout_create(const tw_segment* segments, uint64_t count, int64_t extent,
                           tw_layout** layout) {
  return guarded([&] {
    if (layout == nullptr || (segments == nullptr && count != 0)) {
      return misuse("tw_layout_create: null pointer");
    }
    auto made = device::MemoryLayout::create(reinterpret_cast<const device::Segment*>(segments),
                                             count, extent);
    if (made.ok()) *layout = Shells<tw_layout>::make(std::move(*made)).release();
    return report(made.status());
  });
}

void tw_layout_destroy(tw_layout* layout) {
  close_handle(layout, "tw_layout_destroy: the layout is destroyed already");
}

tw_status tw_layout_pack(const tw_layout* layout, const void* source, void* destination,
                         uint64_t bytes) {
  return guarded([&] {
    if (!is_open(layout) || (bytes != 0 && (source == nullptr || destination == nullptr))) {
      return misuse("tw_layout_pack: null pointer, or destroyed layout");
    }
    return report(layout->layout->pack(bytes_at(source), bytes_at(destination), bytes));
  });
}

tw_status tw_layout_unpack(const tw_layout* layout, const void* source, void* destination,
                           uint64_t bytes) {
  return guarded([&] {
    if (!is_open(layout) || (bytes != 0 && (source == nullptr || destination == nullptr))) {
      return misuse("tw_layout_unpack: null pointer, or destroyed layout");
    }
    return report(layout->layout->unpack(bytes_at(source), bytes_at(destination), bytes));
  });
}
