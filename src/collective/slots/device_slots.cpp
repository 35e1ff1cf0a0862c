#include "collective/slots/device_slots.h"

#include "collective/gpu/slots.h"
#include "device/context.h"
#include "device/enqueue.h"
#include "device/place.h"

namespace thinwire::collective {

Status DeviceSlots::begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
                          bool clears) {
  engine_.lend(workspace);
  if (workspace.data() == nullptr) return {};  // a rank alone: nothing is coded
  arrived_ = reinterpret_cast<unsigned*>(outcomes.data() + outcomes.size());
  if (!clears) return {};
  const std::uint64_t bytes = workspace.size() + outcomes.size_bytes() + sizeof(device::Outcome);
  return device::enqueue_clear(workspace.data(), bytes, stream_);
}

bool DeviceSlots::seals() const { return engine_.seals(); }

Status DeviceSlots::tell(const RangeStep& step) { return enqueue_tell(step, dtype_, stream_); }

Status DeviceSlots::resolve(const std::byte* blocks, int ranks, BoundRecord& record) {
  return enqueue_resolve(blocks, ranks, record, stream_);
}

Status DeviceSlots::encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                           device::Outcome* outcome, const BoundRecord* bound,
                           const ToSeal* sealed) {
  return engine_.encode_only(from, shape, frame, outcome,
                             bound == nullptr ? nullptr : &bound->parameter, sealed);
}

Status DeviceSlots::seal(std::span<const SealStep> all, std::span<const device::Outcome> before) {
  return enqueue_seal(all, before, stream_);
}

Status DeviceSlots::open(const SlotPlace& place, const Shape& shape, std::byte* to) {
  // Whether there is a frame only the device knows: what is none becomes an error, and finish()
  // sees to the values.
  return engine_.decode_only(place.slot.subspan(kSlotHeaderBytes), shape, to, place.outcome);
}

Status DeviceSlots::finish(std::span<const FinishStep> all, const RunEnd* end) {
  return enqueue_finish(all, dtype_, end, stream_);
}

Status DeviceSlots::sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) {
  return enqueue_sum(step, dtype_, slots, end, arrived_, stream_);
}

Status DeviceSlots::report(const RunEnd& end) { return enqueue_run_report(end, stream_); }

Result<WorkMemory> device_needs(const EngineSettings& settings, const Shape& shape) {
  return StreamEngine(settings, nullptr).memory_for(shape);
}

namespace {

Result<int> device_under(const SlotRun& run) {
  SlotRecord& record = record_at(run.record);
  if (record.device >= 0) return record.device;
  const std::byte* const any = run.lent != nullptr ? run.lent : run.receive;
  const auto place = device::place_of(any);
  if (!place.ok()) return place.status();
  if (!place->on_device()) {
    return {StatusCode::kInvalidArgument, "a call on a CUDA stream needs GPU memory"};
  }
  return record.device = place->device;
}

}  // namespace

Status enqueue_stage(const SlotRun& run, int stage) {
  const auto device = device_under(run);
  if (!device.ok()) return device.status();
  const auto current = device::ContextGuard::enter(*device);
  if (!current.ok()) return current.status();
  DeviceSlots work(run.plan->settings(), run.stream);
  return do_stage(run, stage, work);
}

}  // namespace thinwire::collective
