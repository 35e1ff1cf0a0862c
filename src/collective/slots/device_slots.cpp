#include "collective/slots/device_slots.h"

#include "collective/gpu/slots.h"
#include "device/context.h"
#include "device/enqueue.h"
#include "device/place.h"

namespace thinwire::collective {

Status DeviceSlots::begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
                          bool first) {
  engine_.lend(workspace);
  if (!first) return {};
  auto* const words = reinterpret_cast<std::byte*>(outcomes.data());
  Status status = device::enqueue_clear(words, outcomes.size_bytes(), stream_);
  return status.ok() ? engine_.begin(workspace, nullptr) : status;
}

Status DeviceSlots::seal(const SlotPlace& place, const std::byte* values,
                         std::span<const device::Outcome> before) {
  return enqueue_seal(place, values, before, stream_);
}

Status DeviceSlots::open(const SlotPlace& place, const Shape& shape, std::byte* to) {
  // Whether there is a frame only the device knows: what is none becomes an error, and finish()
  // sees to the values.
  return engine_.decode_only(place.slot.subspan(kSlotHeaderBytes), shape, to, place.outcome);
}

Status DeviceSlots::finish(const SlotPlace& place, const Shape&, std::byte* to,
                           const std::byte* own) {
  return enqueue_finish(place, dtype_, to, own, stream_);
}

Status DeviceSlots::sum(const Operands& arrays, std::uint64_t count, double scale, std::byte* to) {
  return enqueue_sum(dtype_, count, arrays, scale, to, stream_);
}

Status DeviceSlots::report(std::span<const device::Outcome> outcomes, device::Outcome* to,
                           device::Outcome* done) {
  return enqueue_run_report(outcomes, to, done, stream_);
}

Result<WorkMemory> device_needs(const EngineSettings& settings, const Shape& shape) {
  return StreamEngine(settings, nullptr).memory_for(shape);
}

Status enqueue_stage(const SlotRun& run, int stage) {
  const std::byte* const any = run.lent != nullptr ? run.lent : run.receive;
  const auto place = device::place_of(any);
  if (!place.ok()) return place.status();
  if (!place->on_device()) {
    return {StatusCode::kInvalidArgument, "a call on a CUDA stream needs GPU memory"};
  }
  const auto current = device::ContextGuard::enter(place->device);
  if (!current.ok()) return current.status();
  DeviceSlots work(run.plan->settings(), run.stream);
  return do_stage(run, stage, work);
}

}  // namespace thinwire::collective
