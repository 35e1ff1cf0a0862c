// The fate of a slot, from its header and the outcome of its coding; the same on host and device.
#pragma once

#include "base/status.h"
#include "device/outcome.h"
#include "frame/seal.h"
#include "slot/slot.h"

namespace thinwire::slot {

// Causes that an outcome of kInternal has in the place of bytes.
enum class SlotFailure : std::uint64_t { kAborted = 1, kLost = 2 };

THINWIRE_HOST_DEVICE constexpr device::Outcome failure(SlotFailure why) {
  return device::make_outcome(StatusCode::kInternal, static_cast<std::uint64_t>(why));
}

THINWIRE_HOST_DEVICE constexpr bool is_error(device::Outcome outcome) {
  return device::outcome_status(outcome) != StatusCode::kOk;
}

// The kind of a slot whose encode has had this outcome.
THINWIRE_HOST_DEVICE constexpr SlotKind kind_after(device::Outcome encoded,
                                                   std::uint64_t slot_bytes) {
  const StatusCode code = device::outcome_status(encoded);
  if (code == StatusCode::kOk) {
    const bool fits = device::outcome_bytes(encoded) + kSlotHeaderBytes <= slot_bytes;
    return fits ? SlotKind::kFrame : SlotKind::kSpilled;
  }
  const bool declined = code == StatusCode::kDeclined || code == StatusCode::kHoldsIntegers;
  return declined ? SlotKind::kSpilled : SlotKind::kLost;
}

// The outcome of a slot that came, whose frame, if it has one, was decoded with that outcome; 0
// where its values are still to be taken, as they were spilled. A GPU decodes from the whole slot,
// so a frame that is longer than the slot says is found out here.
THINWIRE_HOST_DEVICE constexpr device::Outcome verdict(const SlotWords& header, const SlotTag& tag,
                                                       std::uint64_t slot_bytes,
                                                       device::Outcome decoded,
                                                       const frame::HeaderStart& start) {
  if (!is_slot_of(header, tag, slot_bytes)) return device::make_outcome(StatusCode::kDamaged, 0);
  if (kind_of(header) == SlotKind::kSpilled) return 0;
  if (kind_of(header) == SlotKind::kLost) return failure(SlotFailure::kLost);
  // The bytes that came are no frame of the block, whatever is wrong with them.
  const bool is_frame = !is_error(decoded) && frame::length_by(start) <= frame_bytes_of(header);
  return device::make_outcome(is_frame ? StatusCode::kOk : StatusCode::kDamaged, 0);
}

}  // namespace thinwire::slot
