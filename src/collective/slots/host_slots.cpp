#include "collective/slots/host_slots.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "codec/accumulate.h"
#include "message/allowed.h"
#include "message/host.h"

namespace thinwire::collective {
namespace {

using device::Outcome;

SlotWords header_of(const SlotPlace& place) { return load<SlotWords>(place.slot.data()); }

}  // namespace

Status HostSlots::tell(const RangeStep& step) {
  const KeyRange range = key_range(settings_->dtype, step.count, step.values);
  store(step.block, told_range(step.call, static_cast<std::uint64_t>(step.rank), range));
  return {};
}

Status HostSlots::resolve(const std::byte* blocks, int ranks, BoundRecord& record) {
  for (int at = 0; at < ranks; ++at) {
    record.told()[at] = load<SlotWords>(blocks + kSlotUnit * static_cast<std::uint64_t>(at));
  }
  resolve_bound(&record);
  return {};
}

Status HostSlots::write_factor(std::byte* to, const SlotFactor& factor) {
  put_factor(to, factor);
  return {};
}

Status HostSlots::encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                         Outcome* outcome, const BoundRecord* bound, const ToSeal*) {
  const message::Coder with{settings_->spec.codec,
                            bound == nullptr ? settings_->spec.parameter : bound->parameter};
  message::EncodeOptions options;
  options.mark = settings_->mark;
  options.decline = true;  // so that a fixed size is room enough
  const auto bytes = message::encode_on_host(with, settings_->array(shape), from, frame, options);
  *outcome = device::make_outcome(bytes.status().code(), bytes.ok() ? *bytes : 0);
  return {};
}

// Each after the one before, whose frame may reach into its slot.
Status HostSlots::encode_blocks(std::span<const SealStep> blocks, const Shape& shape,
                                std::span<const Outcome>) {
  const message::Coder coder{settings_->spec.codec, settings_->spec.parameter};
  const auto most = message::bound(coder, settings_->array(shape));
  if (!most.ok()) return most.status();
  for (const SealStep& each : blocks) {
    const MutableByteView frame(each.place.slot.data() + kSlotHeaderBytes, *most);
    const Status status = encode(each.values, shape, frame, each.place.outcome, nullptr, nullptr);
    if (!status.ok()) return status;
  }
  return {};
}

void HostSlots::seal(const SealStep& step, std::span<const Outcome> before) {
  const SlotPlace& place = step.place;
  SlotKind kind = step.as_is ? SlotKind::kSpilled : kind_after(*place.outcome, place.slot.size());
  if (std::any_of(before.begin(), before.end(), is_error)) kind = SlotKind::kLost;
  const std::uint64_t frame = kind == SlotKind::kFrame ? device::outcome_bytes(*place.outcome) : 0;
  store(place.slot.data(), sealed_slot(place.tag, kind, frame));
  if (kind == SlotKind::kLost) *place.outcome = failure(SlotFailure::kLost);
  if (kind != SlotKind::kSpilled) return;
  const std::uint64_t inside = slot::bytes_inside(place.tag.raw_bytes, place.slot.size());
  std::memcpy(place.slot.data() + kSlotHeaderBytes, step.values, inside);
  const slot::MailChunk rest = slot::behind(chunk_of(place), inside);
  if (!put_block(*place.mailbox, rest, step.values + inside)) {
    *place.outcome = failure(SlotFailure::kAborted);
  }
}

Status HostSlots::seal(std::span<const SealStep> all, std::span<const Outcome> before) {
  for (const SealStep& each : all) seal(each, before);
  return {};
}

Status HostSlots::begin(MutableByteView workspace, std::span<Outcome>, std::uint64_t cleared) {
  if (cleared > 0) std::memset(workspace.data(), 0, cleared);
  return {};
}

Status HostSlots::clear(std::byte* at, std::uint64_t bytes) {
  std::memset(at, 0, bytes);
  return {};
}

Status HostSlots::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
  return {};
}

Status HostSlots::copy_rows(const RowsStep& step) {
  for (std::uint64_t row = 0; row < step.rows; ++row) {
    std::memcpy(step.to + row * step.to_step, step.from + row * step.from_step, step.row_bytes);
  }
  return {};
}

void HostSlots::make_nan(std::byte* at, const Shape& shape) const {
  with_any_float_dtype(settings_->dtype, [&](auto kDtype) {
    const auto nan = codec::nan_word<kDtype>();
    for (std::uint64_t i = 0; i < shape.count(); ++i) store(at + i * sizeof nan, nan);
  });
}

// Compares each field, as kernels do, and so the bound, unless the ranks find it in the call.
Status HostSlots::check(const Result<message::Info>& info, const Shape& shape) const {
  if (!info.ok()) return info.status();
  const message::Coder coder{settings_->spec.codec, settings_->spec.parameter};
  frame::Header expected = message::make_header(coder, settings_->array(shape), true);
  expected.body_bytes = info->header.body_bytes;
  if (coder.codec->open(coder.parameter)) expected.parameter = info->header.parameter;
  if (!(info->header == expected)) {
    return {StatusCode::kDamaged, "a frame of another array came in the place of this one"};
  }
  return message::check_allowed(*coder.codec);
}

Outcome HostSlots::decode(ByteView frame, const Shape& shape, std::byte* to) const {
  const auto info = message::find_coder(frame::unpack(frame, settings_->mark), settings_->mark);
  Status status = check(info, shape);
  if (status.ok()) status = message::decode_on_host(*info, frame, {}, to);
  if (!status.ok()) make_nan(to, shape);
  return device::make_outcome(status.code(), 0);
}

Status HostSlots::open(const SlotPlace& place, const Shape& shape, std::byte* to) {
  const SlotWords header = header_of(place);
  const bool sound = is_slot_of(header, place.tag, place.slot.size());
  // A GPU decodes whatever lies there, and may write anything: no plan may count on what was at
  // `to`.
  if (!sound || kind_of(header) != SlotKind::kFrame) {
    make_nan(to, shape);
    return {};
  }
  const ByteView frame(place.slot.data() + kSlotHeaderBytes, frame_bytes_of(header));
  *place.outcome = decode(frame, shape, to);
  return {};
}

Status HostSlots::open_blocks(std::span<const FinishStep> blocks) {
  for (const FinishStep& each : blocks) {
    if (Status status = open(each.place, *each.shape, each.to); !status.ok()) return status;
  }
  return {};
}

namespace {

bool take_spilled(const FinishStep& step) {
  const SlotPlace& place = step.place;
  if (step.own != nullptr) {
    if (step.own != step.to) std::memmove(step.to, step.own, place.tag.raw_bytes);
    return true;
  }
  const std::uint64_t inside = slot::bytes_inside(place.tag.raw_bytes, place.slot.size());
  std::memcpy(step.to, place.slot.data() + kSlotHeaderBytes, inside);
  return take_block(*place.mailbox, slot::behind(chunk_of(place), inside), step.to + inside);
}

}  // namespace

void HostSlots::finish(const FinishStep& step) {
  const SlotPlace& place = step.place;
  const auto start = load<frame::HeaderStart>(place.slot.data() + kSlotHeaderBytes);
  Outcome outcome = verdict(header_of(place), place.tag, place.slot.size(), *place.outcome, start);
  if (outcome == 0) {
    outcome = take_spilled(step) ? device::make_outcome(StatusCode::kOk, place.tag.raw_bytes)
                                 : failure(SlotFailure::kAborted);
  }
  if (is_error(outcome)) {
    make_nan(step.to, *step.shape);
    if (step.reference != nullptr) *step.reference = kUnsoundReference;
  }
  *place.outcome = outcome;
}

Status HostSlots::finish(std::span<const FinishStep> all, const RunEnd* end) {
  for (const FinishStep& each : all) finish(each);
  return end == nullptr ? Status() : report(*end);
}

Status HostSlots::sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) {
  for (const FinishStep& each : slots) finish(each);
  sum_arrays(settings_->dtype, step.count, step.arrays, step.to);
  return end == nullptr ? Status() : report(*end);
}

Status HostSlots::report(const RunEnd& end) {
  if (end.copy_bytes > 0) std::memcpy(end.copy_to, end.copy_from, end.copy_bytes);
  std::copy(end.outcomes.begin(), end.outcomes.end(), end.to);
  std::fill(end.outcomes.begin(), end.outcomes.end(), 0);
  std::atomic_ref<Outcome>(*end.done).store(device::kKnown, std::memory_order_release);
  return {};
}

Result<std::uint64_t> host_needs(const EngineSettings& settings, const Shape&) {
  if (Status status = message::check_usable(*settings.spec.codec, false); !status.ok()) {
    return status;
  }
  return std::uint64_t{0};
}

}  // namespace thinwire::collective
