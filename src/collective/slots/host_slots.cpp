#include "collective/slots/host_slots.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace thinwire::collective {
namespace {

using device::Outcome;

Outcome failure(SlotFailure why) {
  return device::make_outcome(StatusCode::kInternal, static_cast<std::uint64_t>(why));
}

bool is_error(Outcome outcome) { return device::outcome_status(outcome) != StatusCode::kOk; }

// What an encode has come to.
SlotKind kind_after(Outcome outcome, std::uint64_t slot_bytes) {
  const StatusCode code = device::outcome_status(outcome);
  if (code == StatusCode::kOk) {
    const bool fits = device::outcome_bytes(outcome) + kSlotHeaderBytes <= slot_bytes;
    return fits ? SlotKind::kFrame : SlotKind::kSpilled;
  }
  return is_declined(code) ? SlotKind::kSpilled : SlotKind::kLost;
}

SlotWords header_of(const SlotPlace& place) { return load<SlotWords>(place.slot.data()); }

MailChunk chunk_of(const SlotPlace& place) {
  return {.call = place.tag.call,
          .block = place.tag.block,
          .block_bytes = place.tag.raw_bytes,
          .offset = 0,
          .bytes = 0,
          .rank = place.rank};
}

}  // namespace

Status HostSlots::seal(const SlotPlace& place, const std::byte* values,
                       std::span<const Outcome> before) {
  SlotKind kind = kind_after(*place.outcome, place.slot.size());
  if (std::any_of(before.begin(), before.end(), is_error)) kind = SlotKind::kLost;
  const std::uint64_t frame = kind == SlotKind::kFrame ? device::outcome_bytes(*place.outcome) : 0;
  store(place.slot.data(), sealed_slot(place.tag, kind, frame));
  if (kind == SlotKind::kLost) *place.outcome = failure(SlotFailure::kLost);
  if (kind == SlotKind::kSpilled && !put_block(*place.mailbox, chunk_of(place), values)) {
    *place.outcome = failure(SlotFailure::kAborted);
  }
  return {};
}

Status HostSlots::open(const SlotPlace& place, const Shape& shape, std::byte* to) {
  const SlotWords header = header_of(place);
  if (!is_slot_of(header, place.tag, place.slot.size())) {
    *place.outcome = device::make_outcome(StatusCode::kDamaged, 0);
    return {};
  }
  if (kind_of(header) != SlotKind::kFrame) return {};
  const ByteView frame(place.slot.data() + kSlotHeaderBytes, frame_bytes_of(header));
  Outcome outcome = 0;
  if (Status status = work_.decode(frame, shape, to, &outcome); !status.ok()) return status;
  // What came is no frame of the block, whatever is wrong with it.
  *place.outcome = is_error(outcome) ? device::make_outcome(StatusCode::kDamaged, 0) : outcome;
  return {};
}

Status HostSlots::finish(const SlotPlace& place, const Shape& shape, std::byte* to,
                         const std::byte* own) {
  Outcome& outcome = *place.outcome;
  if (outcome == 0 && kind_of(header_of(place)) == SlotKind::kSpilled) {
    const bool came = own != nullptr || take_block(*place.mailbox, chunk_of(place), to);
    if (own != nullptr && own != to) std::memmove(to, own, place.tag.raw_bytes);
    outcome = came ? device::make_outcome(StatusCode::kOk, place.tag.raw_bytes)
                   : failure(SlotFailure::kAborted);
  }
  if (outcome == 0) outcome = failure(SlotFailure::kLost);
  if (is_error(outcome)) work_.make_nan(to, shape);
  return {};
}

Status HostSlots::sum(const Operands& arrays, std::uint64_t count, double scale, std::byte* to) {
  sum_in_order(dtype_, count, arrays, scale, to);
  return {};
}

Status HostSlots::report(Outcome* done) {
  std::atomic_ref<Outcome>(*done).store(device::kKnown, std::memory_order_release);
  return {};
}

Result<WorkMemory> host_needs(const EngineSettings& settings, const Shape& shape) {
  return HostWork(settings).memory_for(shape);
}

}  // namespace thinwire::collective
