#include "collective/slots/device_slots.h"

#include "codec/job.h"
#include "collective/gpu/slots.h"
#include "device/context.h"
#include "device/enqueue.h"
#include "device/place.h"
#include "device/stream.h"

namespace thinwire::collective {

Status DeviceSlots::begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
                          std::uint64_t cleared) {
  workspace_ = workspace;
  if (workspace.data() == nullptr) return {};  // a rank alone: nothing is coded
  arrived_ = reinterpret_cast<unsigned*>(outcomes.data() + outcomes.size());
  return cleared == 0 ? Status() : device::enqueue_clear(workspace.data(), cleared, stream_);
}

bool DeviceSlots::seals() const {
  const codec::Codec* const codec = settings_->spec.codec;  // none for arrays without values
  return codec != nullptr && codec->device != nullptr && codec->device->seals;
}

Status DeviceSlots::tell(const RangeStep& step) {
  return enqueue_tell(step, settings_->dtype, stream_);
}

Status DeviceSlots::resolve(const std::byte* blocks, int ranks, BoundRecord& record) {
  const Status collected = enqueue_collect(blocks, ranks, record, stream_);
  return collected.ok() ? device::enqueue_host(resolve_bound, &record, stream_) : collected;
}

Status DeviceSlots::differ(const DifferStep& step) {
  const Status found = enqueue_find(step, settings_->dtype, stream_);
  return found.ok() ? enqueue_differ(step, settings_->dtype, stream_) : found;
}

Status DeviceSlots::match(const RestoreStep& step) { return enqueue_match(step, stream_); }

Status DeviceSlots::restore(const RestoreStep& step) {
  return enqueue_restore(step, settings_->dtype, stream_);
}

Status DeviceSlots::write_factor(std::byte* to, const SlotFactor& factor) {
  return enqueue_factor(to, factor, stream_);
}

Status DeviceSlots::encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                           device::Outcome* outcome, const BoundRecord* bound,
                           const ToSeal* sealed) {
  const std::uint64_t* const given = bound == nullptr ? nullptr : &bound->parameter;
  return message::enqueue_encode(coder(), settings_->array(shape), from, frame, options(),
                                 lent(outcome, given, sealed));
}

Status DeviceSlots::encode_blocks(std::span<const SealStep> all, const Shape& shape,
                                  std::span<const device::Outcome> before) {
  codec::Blocks blocks;
  blocks.workspace_stride = workspace_stride_;
  const SealStep& first = all.front();
  blocks.room = first.place.slot.size() - kSlotHeaderBytes;
  for (const SealStep& each : all) {
    blocks.at[blocks.count++] = {each.values, each.place.slot.data() + kSlotHeaderBytes,
                                 each.place.tag.block, each.place.rank};
  }
  const ToSeal sealed = to_seal(first, before);
  message::Lent memory = lent(first.place.outcome, nullptr, &sealed);
  memory.blocks = &blocks;
  // A frame may have any size here: `room` says how much of it may be written.
  const MutableByteView frame(blocks.at[0].to, UINT64_MAX);
  return message::enqueue_encode(coder(), settings_->array(shape), first.values, frame, options(),
                                 memory);
}

Status DeviceSlots::seal(std::span<const SealStep> all, std::span<const device::Outcome> before) {
  return enqueue_seal(all, before, stream_);
}

Status DeviceSlots::open(const SlotPlace& place, const Shape& shape, std::byte* to) {
  // Whether there is a frame only the device knows: what is none becomes an error, and finish()
  // sees to the values.
  const codec::Chunk array = settings_->array(shape);
  return message::enqueue_decode(coder(), array, place.slot.subspan(kSlotHeaderBytes),
                                 {to, array.raw_bytes()}, {}, options(), lent(place.outcome));
}

Status DeviceSlots::open_blocks(std::span<const FinishStep> all) {
  codec::Blocks blocks;
  blocks.workspace_stride = workspace_stride_;
  const FinishStep& first = all.front();
  for (const FinishStep& each : all) {
    blocks.at[blocks.count++] = {.from = each.place.slot.data() + kSlotHeaderBytes, .to = each.to};
  }
  message::Lent memory = lent(first.place.outcome);
  memory.blocks = &blocks;
  const codec::Chunk array = settings_->array(*first.shape);
  return message::enqueue_decode(coder(), array, first.place.slot.subspan(kSlotHeaderBytes),
                                 {first.to, array.raw_bytes()}, {}, options(), memory);
}

Status DeviceSlots::finish(std::span<const FinishStep> all, const RunEnd* end) {
  return enqueue_finish(all, settings_->dtype, end, arrived_, stream_);
}

Status DeviceSlots::sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) {
  return enqueue_sum(step, settings_->dtype, slots, end, arrived_, stream_);
}

Status DeviceSlots::clear(std::byte* at, std::uint64_t bytes) {
  return device::enqueue_clear(at, bytes, stream_);
}

Status DeviceSlots::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  return device::enqueue_copy(to, from, bytes, stream_);
}

Status DeviceSlots::copy_rows(const RowsStep& step) {
  return device::enqueue_copy_rows(step.to, step.to_step, step.from, step.from_step, step.row_bytes,
                                   step.rows, stream_);
}

Status DeviceSlots::report(const RunEnd& end) { return enqueue_run_report(end, arrived_, stream_); }

Result<std::uint64_t> device_needs(const EngineSettings& settings, const Shape& shape) {
  return message::workspace_bytes({settings.spec.codec, settings.spec.parameter},
                                  settings.array(shape));
}

namespace {

// The device of a stream: CUDA's default ones are every device's, and work if the values are
// then.
int device_of(const SlotRun& run) {
  int found = device::device_of_stream(run.stream, -1);
  for (const std::byte* const values : {run.send, static_cast<const std::byte*>(run.receive)}) {
    if (found >= 0 || values == nullptr) continue;
    const auto place = device::place_of(values);
    if (place.ok()) found = place->device;
  }
  return found;
}

Result<int> device_under(const SlotRun& run, OnDevice& last) {
  SlotRecord& record = record_at(run.record);
  if (record.device >= 0) return record.device;
  const std::byte* const any = run.lent != nullptr ? run.lent : run.receive;
  const bool is_last = any == last.memory && run.stream == last.stream;
  if (is_last && run.lent != nullptr && last.device >= 0) return record.device = last.device;
  const auto place = device::place_of(any);
  if (!place.ok()) return place.status();
  // Pinned memory is every device's, too.
  const bool is_pinned = place->memory == device::Memory::kPinned;
  record.device = is_pinned ? device_of(run) : place->device;
  last.memory = any;
  last.stream = run.stream;
  last.device = record.device;
  if (record.device >= 0) return record.device;
  return {StatusCode::kInvalidArgument,
          "a call on a CUDA stream needs memory that its GPU reaches"};
}

}  // namespace

Status enqueue_stage(const SlotRun& run, int stage, OnDevice& end) {
  const auto device = device_under(run, end);
  if (!device.ok()) return device.status();
  const auto current = device::ContextGuard::enter(*device);
  if (!current.ok()) return current.status();
  DeviceSlots work(*run.plan, run.stream);
  if (!run.plan->difference().exists) return do_stage(run, stage, work);
  std::unique_ptr<device::Order>& order = end.order;
  if (order == nullptr) order = std::make_unique<device::Order>();
  Status status = stage == 0 ? order->begin(run.stream) : Status();
  if (status.ok()) status = do_stage(run, stage, work);
  const bool last = stage == run.plan->stages() - 1;
  return status.ok() && last ? order->end(run.stream) : status;
}

}  // namespace thinwire::collective
