// Steps of kernels on slots, by all threads of one block: done at once if everything fitted, and
// bound by the bus if not. A launch costs the host as much for 16 slots as for one.
#pragma once

#include "codec/accumulate.h"
#include "collective/gpu/units.h"
#include "collective/slots/work.h"
#include "slot/mailbox.cuh"

namespace thinwire::collective {

inline constexpr int kStepThreads = 1024;

struct ToFinish {
  DeviceSlot slot;
  std::byte* to;
  const std::byte* own;
  std::uint64_t* reference;
};

// Steps that a kernel is given by value. Most calls have few slots, and the host copies all of it.
inline constexpr int kFewSteps = 4;
template <typename Step, int kMost>
struct Steps {
  Step at[kMost];
  int count;
};

template <int kMost>
Steps<ToFinish, kMost> to_finish(std::span<const FinishStep> all) {
  Steps<ToFinish, kMost> steps;
  steps.count = 0;
  for (const FinishStep& each : all) {
    steps.at[steps.count++] = {slot_of(each.place), each.to, each.own, each.reference};
  }
  return steps;
}

template <Dtype kDtype>
__device__ void make_nan(std::byte* values, std::uint64_t bytes) {
  using Word = codec::WordOf<kDtype>;
  const Word nan = codec::nan_word<kDtype>();
  Loose<Word> loose;
  memcpy(&loose, &nan, sizeof nan);
  for (std::uint64_t at = threadIdx.x; at < bytes / sizeof(Word); at += blockDim.x) {
    reinterpret_cast<Loose<Word>*>(values)[at] = loose;
  }
}

// See verdict(). One thread.
__device__ inline device::Outcome verdict_of(const DeviceSlot& slot) {
  const auto& start = *reinterpret_cast<const frame::HeaderStart*>(slot.at + kSlotHeaderBytes);
  const auto& header = *reinterpret_cast<const SlotWords*>(slot.at);
  return verdict(header, slot.tag, slot.bytes, *slot.outcome, start);
}

template <Dtype kDtype>
__device__ void finish(const ToFinish& step) {
  using device::Outcome;
  __shared__ Outcome shared;
  const DeviceSlot& slot = step.slot;
  __syncthreads();  // the slot before may still be looked at
  if (threadIdx.x == 0) shared = verdict_of(slot);
  __syncthreads();
  Outcome outcome = shared;
  if (outcome == 0 && step.own != nullptr) {
    if (step.own != step.to) copy_bytes(step.to, step.own, slot.tag.raw_bytes);
    outcome = device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes);
  } else if (outcome == 0) {
    const std::uint64_t inside = slot::bytes_inside(slot.tag.raw_bytes, slot.bytes);
    copy_bytes(step.to, slot.at + kSlotHeaderBytes, inside);
    outcome = take_from_mailbox(*slot.mailbox, slot::behind(slot.chunk, inside), step.to + inside)
                  ? device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes)
                  : failure(SlotFailure::kAborted);
  }
  if (is_error(outcome)) make_nan<kDtype>(step.to, slot.tag.raw_bytes);
  if (threadIdx.x != 0) return;
  *slot.outcome = outcome;
  if (is_error(outcome) && step.reference != nullptr) *step.reference = kUnsoundReference;
}

// For every thread of the block that is the last of the grid's, true: it sees what the others
// wrote, and they have read all that they read. `*arrived` is 0 before and after. For whole thread
// blocks.
__device__ inline bool is_last(unsigned* arrived) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// The report of RunEnd, but for a kernel; none if there is no `done`.
struct DeviceEnd {
  device::Outcome* outcomes;
  std::uint32_t count;
  device::Outcome *to, *done;
};

inline DeviceEnd end_of(const RunEnd* end) {
  if (end == nullptr) return {};
  return {end->outcomes.data(), static_cast<std::uint32_t>(end->outcomes.size()), end->to,
          end->done};
}

__device__ inline void report(const DeviceEnd& end) {
  for (std::uint32_t at = threadIdx.x; at < end.count; at += blockDim.x) {
    end.to[at] = end.outcomes[at];
    end.outcomes[at] = 0;
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile device::Outcome*>(end.done) = device::kKnown;
}

}  // namespace thinwire::collective
