// Slots in stream order: headers, what is spilled, reports. One block of threads goes from slot to
// slot: it is done at once where everything fitted, and bound by the bus where not. A launch costs
// the host as much for 16 slots as for one.
#include <limits>

#include "codec/reduce.h"
#include "collective/gpu/mailbox.cuh"
#include "collective/gpu/slots.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 1024;

using device::Outcome;

// What kernels are told of a slot.
struct Slot {
  std::byte* at;
  std::uint64_t bytes;
  SlotTag tag;
  MailChunk chunk;
  Mailbox* mailbox;
  Outcome* outcome;
};

Slot slot_of(const SlotPlace& place) {
  return {place.slot.data(), place.slot.size(), place.tag,
          chunk_of(place),   place.mailbox,     place.outcome};
}

struct ToSeal {
  Slot slot;
  const std::byte* values;
};
struct ToFinish {
  Slot slot;
  std::byte* to;
  const std::byte* own;
};

// What a kernel is given as it is.
template <typename Step>
struct Steps {
  Step at[kMostSteps];
  int count;
};

__device__ void seal(const ToSeal& step, bool lost) {
  __shared__ SlotKind kind;
  const Slot& slot = step.slot;
  __syncthreads();  // the slot before may still be looked at
  if (threadIdx.x == 0) {
    const Outcome encoded = *slot.outcome;
    kind = lost ? SlotKind::kLost : kind_after(encoded, slot.bytes);
    const std::uint64_t frame = kind == SlotKind::kFrame ? device::outcome_bytes(encoded) : 0;
    *reinterpret_cast<SlotWords*>(slot.at) = sealed_slot(slot.tag, kind, frame);
    if (kind == SlotKind::kLost) *slot.outcome = failure(SlotFailure::kLost);
  }
  __syncthreads();
  if (kind != SlotKind::kSpilled || put_in_mailbox(*slot.mailbox, slot.chunk, step.values)) return;
  if (threadIdx.x == 0) *slot.outcome = failure(SlotFailure::kAborted);
}

__global__ void __launch_bounds__(kThreads)
    seal_kernel(Steps<ToSeal> steps, const Outcome* before, std::uint32_t count) {
  bool lost = false;
  for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) lost |= is_error(before[at]);
  lost = __syncthreads_or(lost) != 0;
  for (int at = 0; at < steps.count; ++at) seal(steps.at[at], lost);
}

template <Dtype kDtype>
__device__ void make_nan(std::byte* values, std::uint64_t bytes) {
  using Word = codec::WordOf<kDtype>;
  const Word nan = codec::word_of<kDtype>(codec::number_of<kDtype>(static_cast<Word>(~Word{0})));
  Loose<Word> loose;
  memcpy(&loose, &nan, sizeof nan);
  for (std::uint64_t at = threadIdx.x; at < bytes / sizeof(Word); at += blockDim.x) {
    reinterpret_cast<Loose<Word>*>(values)[at] = loose;
  }
}

template <Dtype kDtype>
__device__ void finish(const ToFinish& step) {
  __shared__ Outcome shared;
  const Slot& slot = step.slot;
  __syncthreads();  // the slot before may still be looked at
  if (threadIdx.x == 0) {
    shared =
        verdict(*reinterpret_cast<const SlotWords*>(slot.at), slot.tag, slot.bytes, *slot.outcome);
  }
  __syncthreads();
  Outcome outcome = shared;
  if (outcome == 0 && step.own != nullptr) {
    if (step.own != step.to) copy_bytes(step.to, step.own, slot.tag.raw_bytes);
    outcome = device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes);
  } else if (outcome == 0) {
    outcome = take_from_mailbox(*slot.mailbox, slot.chunk, step.to)
                  ? device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes)
                  : failure(SlotFailure::kAborted);
  }
  if (is_error(outcome)) make_nan<kDtype>(step.to, slot.tag.raw_bytes);
  if (threadIdx.x == 0) *slot.outcome = outcome;
}

// As RunEnd, but for a kernel; nothing where there is no `done`.
struct End {
  const Outcome* outcomes;
  std::uint32_t count;
  Outcome *to, *done;
};

End end_of(const RunEnd* end) {
  if (end == nullptr) return {};
  return {end->outcomes.data(), static_cast<std::uint32_t>(end->outcomes.size()), end->to,
          end->done};
}

__device__ void report(const End& end) {
  for (std::uint32_t at = threadIdx.x; at < end.count; at += blockDim.x) {
    end.to[at] = end.outcomes[at];
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile Outcome*>(end.done) = device::kKnown;
}

template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) finish_kernel(Steps<ToFinish> steps, End end) {
  for (int at = 0; at < steps.count; ++at) finish<kDtype>(steps.at[at]);
  if (end.done == nullptr) return;
  __syncthreads();  // the outcomes of these slots
  report(end);
}

__global__ void __launch_bounds__(kThreads) report_kernel(End end) { report(end); }

}  // namespace

Status enqueue_seal(std::span<const SealStep> all, std::span<const Outcome> before,
                    device::StreamHandle stream) {
  Steps<ToSeal> steps{};
  for (const SealStep& each : all) steps.at[steps.count++] = {slot_of(each.place), each.values};
  return device::launch("cannot seal slots", seal_kernel, {1, kThreads}, stream, steps,
                        before.data(), static_cast<std::uint32_t>(before.size()));
}

Status enqueue_finish(std::span<const FinishStep> all, Dtype dtype, const RunEnd* end,
                      device::StreamHandle stream) {
  Steps<ToFinish> steps{};
  for (const FinishStep& each : all) {
    steps.at[steps.count++] = {slot_of(each.place), each.to, each.own};
  }
  using Kernel = void (*)(Steps<ToFinish>, End);
  const auto kernel =
      with_float_dtype(dtype, [](auto kDtype) -> Kernel { return finish_kernel<kDtype>; });
  return device::launch("cannot finish slots", kernel, {1, kThreads}, stream, steps, end_of(end));
}

Status enqueue_run_report(const RunEnd& end, device::StreamHandle stream) {
  return device::launch("cannot report a call", report_kernel, {1, 128}, stream, end_of(&end));
}

}  // namespace thinwire::collective
