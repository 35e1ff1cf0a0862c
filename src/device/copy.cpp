#include "device/copy.h"

#include <cstring>

#include "device/place.h"
#include "device/work_stream.h"

namespace thinwire::device {

Result<int> device_of(const void* destination, const void* source) {
  for (const void* side : {destination, source}) {
    if (side == nullptr) continue;
    const auto place = place_of(side);
    if (!place.ok()) return place.status();
    if (place->on_device()) return place->device;
  }
  return -1;
}

Status copy(void* destination, const void* source, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const auto device = device_of(destination, source);
  if (!device.ok()) return device.status();
  if (*device < 0) {
    std::memcpy(destination, source, bytes);
    return {};
  }
  auto work = acquire_work_stream(*device, 0);
  if (!work.ok()) return work.status();
  Status status = work->copy(destination, source, bytes);
  return status.ok() ? work->finish() : status;
}

}  // namespace thinwire::device
