// Sealing a slot, by all threads of one block that sees its encode's outcome: done at once if
// the frame fits, and bound by the bus if not.
#pragma once

#include "slot/mailbox.cuh"
#include "slot/seal.h"
#include "slot/verdict.h"

namespace thinwire::slot {

// A function of its own, so that it takes nothing from the kernels that call it at their ends.
static __device__ __attribute__((noinline)) void seal(const ToSeal& step) {
  __shared__ SlotKind kind;
  const DeviceSlot& slot = step.slot;
  bool lost = false;
  for (std::uint32_t at = threadIdx.x; at < step.before_count; at += blockDim.x) {
    lost |= is_error(step.before[at]);
  }
  lost = __syncthreads_or(lost) != 0;
  if (threadIdx.x == 0) {
    const device::Outcome encoded = seen(*slot.outcome);
    kind = step.as_is ? SlotKind::kSpilled : kind_after(encoded, slot.bytes);
    if (lost) kind = SlotKind::kLost;
    const std::uint64_t frame = kind == SlotKind::kFrame ? device::outcome_bytes(encoded) : 0;
    *reinterpret_cast<SlotWords*>(slot.at) = sealed_slot(slot.tag, kind, frame);
    if (kind == SlotKind::kLost) *slot.outcome = failure(SlotFailure::kLost);
  }
  __syncthreads();
  if (kind != SlotKind::kSpilled) return;
  const std::uint64_t inside = bytes_inside(slot.tag.raw_bytes, slot.bytes);
  copy_bytes(slot.at + kSlotHeaderBytes, step.values, inside);
  if (put_in_mailbox(*slot.mailbox, behind(slot.chunk, inside), step.values + inside)) return;
  if (threadIdx.x == 0) *slot.outcome = failure(SlotFailure::kAborted);
}

}  // namespace thinwire::slot
