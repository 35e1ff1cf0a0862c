// Messages about their values that ranks exchange before a bounded sum is encoded.
#include "collective/gpu/kernels.h"
#include "collective/gpu/slots.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 128;

// One block.
__global__ void __launch_bounds__(kThreads)
    tell_kernel(const KeyRange* parts, std::uint64_t count, std::uint64_t call, std::uint64_t rank,
                std::byte* block) {
  __shared__ KeyRange of_threads[kThreads];
  KeyRange range;
  for (std::uint64_t at = threadIdx.x; at < count; at += kThreads) range.join(parts[at]);
  of_threads[threadIdx.x] = range;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int thread = 1; thread < kThreads; ++thread) range.join(of_threads[thread]);
  *reinterpret_cast<SlotWords*>(block) = told_range(call, rank, range);
}

// From GPU memory into the record, which is the host's.
__global__ void __launch_bounds__(kThreads)
    collect_kernel(const std::byte* blocks, int ranks, SlotWords* told) {
  for (int at = static_cast<int>(threadIdx.x); at < ranks * kSlotWords; at += kThreads) {
    const auto rank = static_cast<std::uint64_t>(at / kSlotWords);
    const auto* const words = reinterpret_cast<const SlotWords*>(blocks + rank * kSlotUnit);
    told[rank].word[at % kSlotWords] = words->word[at % kSlotWords];
  }
}

}  // namespace

Status enqueue_tell(const RangeStep& step, Dtype dtype, device::StreamHandle stream) {
  auto* const parts = reinterpret_cast<KeyRange*>(step.scratch);
  if (step.count > 0) {
    Status status = enqueue_key_ranges(dtype, step.count, step.values, parts, stream);
    if (!status.ok()) return status;
  }
  return device::launch("cannot look at values", tell_kernel, {1, kThreads}, stream, parts,
                        step.count > 0 ? key_ranges(step.count) : 0, step.call,
                        static_cast<std::uint64_t>(step.rank), step.block);
}

Status enqueue_collect(const std::byte* blocks, int ranks, BoundRecord& record,
                       device::StreamHandle stream) {
  return device::launch("cannot collect ranges", collect_kernel, {1, kThreads}, stream, blocks,
                        ranks, record.told());
}

}  // namespace thinwire::collective
