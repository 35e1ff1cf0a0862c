// Slots in stream order: headers, what is spilled, reports. One block of threads goes from slot to
// slot; others copy this rank's own values meanwhile.
#include <algorithm>

#include "collective/gpu/slots.h"
#include "collective/gpu/steps.cuh"
#include "device/enqueue.h"
#include "device/launch.h"
#include "slot/seal.cuh"

namespace thinwire::collective {
namespace {

using device::Outcome;

__global__ void factor_kernel(std::byte* to, const SlotFactor factor) { put_factor(to, factor); }

template <int kMost>
__global__ void __launch_bounds__(kStepThreads)
    seal_kernel(const __grid_constant__ Steps<ToSeal, kMost> steps) {
  for (int at = 0; at < steps.count; ++at) {
    slot::seal(steps.at[at]);
    __syncthreads();  // the slot before may still be looked at
  }
}

// This rank's own values, by all blocks but the first.
struct Copy {
  uint4* to;
  const uint4* from;
  std::uint64_t bytes;
};

constexpr std::uint64_t kMostCopiers = 264;  // two for each multiprocessor of an H100

__device__ void copy_own(const Copy& copy) {
  const std::uint64_t units = copy.bytes / kUnitBytes;
  const std::uint64_t first = (blockIdx.x - 1) * std::uint64_t{kStepThreads} + threadIdx.x;
  const std::uint64_t step = (gridDim.x - 1) * std::uint64_t{kStepThreads};
#pragma unroll 4
  for (std::uint64_t at = first; at < units; at += step) copy.to[at] = copy.from[at];
  const std::uint64_t rest = units * kUnitBytes + first;
  if (rest < copy.bytes) {
    reinterpret_cast<std::byte*>(copy.to)[rest] =
        reinterpret_cast<const std::byte*>(copy.from)[rest];
  }
}

// By the last block: what others copy may lie in lent memory, which another call may get as soon as
// the host knows of the end. If there is no `arrived` (a rank alone) it does not.
__device__ void report_behind(unsigned* arrived, const DeviceEnd& end) {
  if (gridDim.x > 1 && arrived != nullptr) {
    if (!is_last(arrived)) return;
  } else if (blockIdx.x != 0) {
    return;
  }
  __syncthreads();  // the outcomes of this block's slots
  report(end);
}

template <Dtype kDtype, int kMost>
__global__ void __launch_bounds__(kStepThreads)
    finish_kernel(Steps<ToFinish, kMost> steps, DeviceEnd end, Copy copy, unsigned* arrived) {
  if (blockIdx.x != 0) {
    copy_own(copy);
  } else {
    for (int at = 0; at < steps.count; ++at) finish<kDtype>(steps.at[at]);
  }
  if (end.done != nullptr) report_behind(arrived, end);
}

__global__ void __launch_bounds__(kStepThreads)
    report_kernel(DeviceEnd end, Copy copy, unsigned* arrived) {
  if (blockIdx.x != 0) copy_own(copy);
  report_behind(arrived, end);
}

template <int kMost>
Status launch_seal(std::span<const SealStep> all, std::span<const Outcome> before,
                   device::StreamHandle stream) {
  Steps<ToSeal, kMost> steps;
  steps.count = 0;
  for (const SealStep& each : all) steps.at[steps.count++] = to_seal(each, before);
  return device::launch("cannot seal slots", seal_kernel<kMost>, {1, kStepThreads}, stream, steps);
}

// The copy that the kernel of a run's end makes; CUDA copies what is not aligned, beforehand.
Result<Copy> copy_of(const RunEnd* end, device::StreamHandle stream) {
  if (end == nullptr || end->copy_bytes == 0) return Copy{};
  const auto both = reinterpret_cast<std::uintptr_t>(end->copy_to) |
                    reinterpret_cast<std::uintptr_t>(end->copy_from);
  if (both % kUnitBytes == 0) {
    return Copy{reinterpret_cast<uint4*>(end->copy_to),
                reinterpret_cast<const uint4*>(end->copy_from), end->copy_bytes};
  }
  Status copied = device::enqueue_copy(end->copy_to, end->copy_from, end->copy_bytes, stream);
  if (!copied.ok()) return copied;
  return Copy{};
}

std::uint64_t blocks_for(const Copy& copy) {
  return 1 + std::min(ceil_div(copy.bytes, kUnitBytes * kStepThreads), kMostCopiers);
}

template <int kMost>
Status launch_finish(std::span<const FinishStep> all, Dtype dtype, const RunEnd* end,
                     unsigned* arrived, device::StreamHandle stream) {
  const auto copy = copy_of(end, stream);
  if (!copy.ok()) return copy.status();
  using Kernel = void (*)(Steps<ToFinish, kMost>, DeviceEnd, Copy, unsigned*);
  const auto kernel = with_any_float_dtype(
      dtype, [](auto kDtype) -> Kernel { return finish_kernel<kDtype, kMost>; });
  return device::launch("cannot finish slots", kernel, {blocks_for(*copy), kStepThreads}, stream,
                        to_finish<kMost>(all), end_of(end), *copy, arrived);
}

}  // namespace

Status enqueue_factor(std::byte* to, const SlotFactor& factor, device::StreamHandle stream) {
  return device::launch("cannot write a factor", factor_kernel, {1, 1}, stream, to, factor);
}

Status enqueue_seal(std::span<const SealStep> all, std::span<const Outcome> before,
                    device::StreamHandle stream) {
  return all.size() <= kFewSteps ? launch_seal<kFewSteps>(all, before, stream)
                                 : launch_seal<kMostSteps>(all, before, stream);
}

Status enqueue_finish(std::span<const FinishStep> all, Dtype dtype, const RunEnd* end,
                      unsigned* arrived, device::StreamHandle stream) {
  return all.size() <= kFewSteps ? launch_finish<kFewSteps>(all, dtype, end, arrived, stream)
                                 : launch_finish<kMostSteps>(all, dtype, end, arrived, stream);
}

Status enqueue_run_report(const RunEnd& end, unsigned* arrived, device::StreamHandle stream) {
  const auto copy = copy_of(&end, stream);
  if (!copy.ok()) return copy.status();
  return device::launch("cannot report a call", report_kernel, {blocks_for(*copy), kStepThreads},
                        stream, end_of(&end), *copy, arrived);
}

}  // namespace thinwire::collective
