// The fate of a slot: first for the sender, from the outcome of its encode, then for a receiver,
// from the slot's header and the outcome of the decode. The same on host and device. See
// spec/slot.md.
#pragma once

#include "base/status.h"
#include "device/stream.h"
#include "frame/seal.h"
#include "slot/slot.h"

namespace thinwire::slot {

// Why values are missing though nothing is damaged. An outcome of kInternal holds this number where
// a successful one holds bytes: the call was aborted here, or the sender had no values to send.
enum class SlotFailure : std::uint64_t { kAborted = 1, kLost = 2 };

THINWIRE_HOST_DEVICE constexpr device::Outcome failure(SlotFailure why) {
  return device::make_outcome(StatusCode::kInternal, static_cast<std::uint64_t>(why));
}

THINWIRE_HOST_DEVICE constexpr bool is_error(device::Outcome outcome) {
  return device::outcome_status(outcome) != StatusCode::kOk;
}

// The kind that a sender writes into its slot: kFrame if the encoded frame and the header fit it,
// kSpilled if not, or if the codec declined the values, and kLost after any other error.
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

// A receiver's outcome of a slot. `decoded` is that of decoding the slot's frame, and `start` the
// frame's first bytes; both count for a slot with a frame only.
//   0            the values are spilled: the receiver has yet to fetch them
//   kOk          they have been decoded
//   kInternal    the sender lost them
//   kDamaged     the slot is not that of the call and block in `tag`, or its frame is not sound
// A GPU decodes from the whole slot, so only here is a frame refused that is longer than its header
// says.
THINWIRE_HOST_DEVICE constexpr device::Outcome verdict(const SlotWords& header, const SlotTag& tag,
                                                       std::uint64_t slot_bytes,
                                                       device::Outcome decoded,
                                                       const frame::HeaderStart& start) {
  if (!is_slot_of(header, tag, slot_bytes)) return device::make_outcome(StatusCode::kDamaged, 0);
  if (kind_of(header) == SlotKind::kSpilled) return 0;
  if (kind_of(header) == SlotKind::kLost) return failure(SlotFailure::kLost);
  // Whatever was wrong with a frame, the receiver's error is that its bytes are damaged.
  const bool is_frame = !is_error(decoded) && frame::length_by(start) <= frame_bytes_of(header);
  return device::make_outcome(is_frame ? StatusCode::kOk : StatusCode::kDamaged, 0);
}

}  // namespace thinwire::slot
