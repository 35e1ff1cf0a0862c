// Slots in stream order: headers, what is spilled, reports. One block each: they return at once
// where everything fitted, and are bound by the bus where not.
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

__global__ void __launch_bounds__(kThreads)
    seal_kernel(Slot slot, const std::byte* values, const Outcome* before, std::uint32_t count) {
  __shared__ SlotKind kind;
  bool lost = false;
  for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) lost |= is_error(before[at]);
  lost = __syncthreads_or(lost) != 0;
  if (threadIdx.x == 0) {
    const Outcome encoded = *slot.outcome;
    kind = lost ? SlotKind::kLost : kind_after(encoded, slot.bytes);
    const std::uint64_t frame = kind == SlotKind::kFrame ? device::outcome_bytes(encoded) : 0;
    *reinterpret_cast<SlotWords*>(slot.at) = sealed_slot(slot.tag, kind, frame);
    if (kind == SlotKind::kLost) *slot.outcome = failure(SlotFailure::kLost);
  }
  __syncthreads();
  if (kind != SlotKind::kSpilled || put_in_mailbox(*slot.mailbox, slot.chunk, values)) return;
  if (threadIdx.x == 0) *slot.outcome = failure(SlotFailure::kAborted);
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
__global__ void __launch_bounds__(kThreads)
    finish_kernel(Slot slot, std::byte* to, const std::byte* own) {
  __shared__ Outcome shared;
  if (threadIdx.x == 0) {
    shared =
        verdict(*reinterpret_cast<const SlotWords*>(slot.at), slot.tag, slot.bytes, *slot.outcome);
  }
  __syncthreads();
  Outcome outcome = shared;
  if (outcome == 0 && own != nullptr) {
    if (own != to) copy_bytes(to, own, slot.tag.raw_bytes);
    outcome = device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes);
  } else if (outcome == 0) {
    outcome = take_from_mailbox(*slot.mailbox, slot.chunk, to)
                  ? device::make_outcome(StatusCode::kOk, slot.tag.raw_bytes)
                  : failure(SlotFailure::kAborted);
  }
  if (is_error(outcome)) make_nan<kDtype>(to, slot.tag.raw_bytes);
  if (threadIdx.x == 0) *slot.outcome = outcome;
}

__global__ void __launch_bounds__(kThreads)
    report_kernel(const Outcome* outcomes, std::uint32_t count, Outcome* to, Outcome* done) {
  for (std::uint32_t at = threadIdx.x; at < count; at += blockDim.x) to[at] = outcomes[at];
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile Outcome*>(done) = device::kKnown;
}

}  // namespace

Status enqueue_seal(const SlotPlace& place, const std::byte* values,
                    std::span<const Outcome> before, device::StreamHandle stream) {
  return device::launch("cannot seal a slot", seal_kernel, {1, kThreads}, stream, slot_of(place),
                        values, before.data(), static_cast<std::uint32_t>(before.size()));
}

Status enqueue_finish(const SlotPlace& place, Dtype dtype, std::byte* to, const std::byte* own,
                      device::StreamHandle stream) {
  using Kernel = void (*)(Slot, std::byte*, const std::byte*);
  const auto kernel =
      with_float_dtype(dtype, [](auto kDtype) -> Kernel { return finish_kernel<kDtype>; });
  return device::launch("cannot finish a slot", kernel, {1, kThreads}, stream, slot_of(place), to,
                        own);
}

Status enqueue_run_report(std::span<const Outcome> outcomes, Outcome* to, Outcome* done,
                          device::StreamHandle stream) {
  return device::launch("cannot report a call", report_kernel, {1, 128}, stream, outcomes.data(),
                        static_cast<std::uint32_t>(outcomes.size()), to, done);
}

}  // namespace thinwire::collective
