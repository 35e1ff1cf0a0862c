#include "collective/gpu/values.h"

#include <span>

#include "collective/gpu/kernels.h"
#include "device/place.h"
#include "device/pool.h"
#include "device/work_stream.h"

namespace thinwire::collective {
namespace {

using device::Lease;
using device::Memory;
using device::Place;
using device::WorkStream;

// Whether kernels of `device` read such memory where it lies.
bool is_reached(const Place& place, int device) {
  if (place.memory == Memory::kDevice) return place.device == device;
  return place.memory != Memory::kHost;
}

Status combine_on_device(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                         int device, const std::byte* from, const Place& from_place) {
  Lease copied;  // outlives the work
  auto work = device::acquire_work_stream(device, 0);
  if (!work.ok()) return work.status();
  Status status;
  if (!is_reached(from_place, device)) {
    const std::uint64_t bytes = count * dtype_size(dtype);
    auto memory = device::acquire_device(device, bytes);
    if (!memory.ok()) return memory.status();
    copied = std::move(*memory);
    status = work->copy(copied.data(), from, bytes);
    from = copied.data();
  }
  if (status.ok()) status = enqueue_combine(reduction, dtype, count, into, from, work->stream());
  const Status finished = work->finish();
  return status.ok() ? finished : status;
}

// `into` lies in host memory, `from` on a device.
Status combine_from_device(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                           const std::byte* from, int device) {
  const std::uint64_t bytes = count * dtype_size(dtype);
  auto copied = device::acquire_pinned(bytes);
  if (!copied.ok()) return copied.status();
  auto work = device::acquire_work_stream(device, 0);
  if (!work.ok()) return work.status();
  Status status = work->copy(copied->data(), from, bytes);
  if (Status finished = work->finish(); status.ok()) status = finished;
  if (status.ok()) combine(reduction, dtype, count, into, copied->data());
  return status;
}

}  // namespace

Status combine_anywhere(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                        const std::byte* from) {
  if (count == 0) return {};
  const auto there = device::place_of(into);
  if (!there.ok()) return there.status();
  const auto place = device::place_of(from);
  if (!place.ok()) return place.status();
  if (there->on_device()) {
    return combine_on_device(reduction, dtype, count, into, there->device, from, *place);
  }
  if (place->on_device()) {
    return combine_from_device(reduction, dtype, count, into, from, place->device);
  }
  combine(reduction, dtype, count, into, from);
  return {};
}

Status sum_anywhere(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to) {
  if (count == 0) return {};
  const auto there = device::place_of(to);
  if (!there.ok()) return there.status();
  const auto place = device::place_of(arrays.at(0));
  if (!place.ok()) return place.status();
  if (!there->on_device() && !place->on_device()) {
    sum_arrays(dtype, count, arrays, to);
    return {};
  }
  if (there->device != place->device) {
    return {StatusCode::kInvalidArgument, "the arrays of a sum lie in host memory or on one GPU"};
  }
  auto work = device::acquire_work_stream(there->device, 0);
  if (!work.ok()) return work.status();
  const Status status = enqueue_sum_of_arrays(dtype, count, arrays, to, work->stream());
  const Status finished = work->finish();
  return status.ok() ? finished : status;
}

Result<Statistics> statistics_anywhere(Dtype dtype, std::uint64_t count, const std::byte* values) {
  const auto place = device::place_of(values);
  if (!place.ok()) return place.status();
  if (!place->on_device() || count == 0) return statistics(dtype, count, values);
  const std::uint64_t parts = key_ranges(count);
  // The GPU writes them where the host reads them.
  auto memory = device::acquire_pinned(parts * sizeof(KeyRange));
  if (!memory.ok()) return memory.status();
  auto* const ranges = reinterpret_cast<KeyRange*>(memory->data());
  auto work = device::acquire_work_stream(place->device, 0);
  if (!work.ok()) return work.status();
  Status status = enqueue_key_ranges(dtype, count, values, ranges, work->stream());
  if (Status finished = work->finish(); status.ok()) status = finished;
  if (!status.ok()) return status;
  KeyRange all;
  for (const KeyRange& part : std::span(ranges, parts)) all.join(part);
  return statistics(dtype, all);
}

}  // namespace thinwire::collective
