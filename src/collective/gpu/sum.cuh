// Sums of all ranks' arrays: each array is read once, the result written once. The slots that they
// came in are finished by the same kernel, and the run reported.
//
// `Adds` says how: Adds<kDtype, kFactors>::summed<Unit>(arrays, at, scale) is the sum of what units
// of that place hold in all arrays, word by word.
#pragma once

#include <algorithm>

#include "codec/accumulate.h"
#include "collective/gpu/slots.h"
#include "collective/gpu/steps.cuh"
#include "device/launch.h"

namespace thinwire::collective {

// Exact sums, as enqueue_sum() has them.
Status enqueue_exact_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                         const RunEnd* end, unsigned* arrived, device::StreamHandle stream);

// Threads of a block, which adds alone if a block was spilled.
inline constexpr int kSumThreads = 512;
inline constexpr std::uint64_t kMostSumBlocks = 1024;

// A unit is read and written by one thread, so the result may be one of the arrays. `thread` of so
// many `threads`.
template <typename Adds, typename Unit, typename Number>
__device__ void sum_units(const Operands& arrays, std::uint64_t first, std::uint64_t count,
                          Number scale, std::byte* to, std::uint64_t thread,
                          std::uint64_t threads) {
  for (std::uint64_t at = first + thread; at < count; at += threads) {
    reinterpret_cast<Unit*>(to)[at] = Adds::template summed<Unit>(arrays, at, scale);
  }
}

// Arguments of a kernel that adds.
struct ToSum {
  Operands arrays;
  std::uint64_t count;
  std::byte* to;
  bool in_units;
  unsigned* arrived;
};

template <typename Adds, Dtype kDtype>
__device__ void sum(const ToSum& of, std::uint64_t thread, std::uint64_t threads) {
  using Word = codec::WordOf<kDtype>;
  const auto scale = static_cast<codec::NumberOf<kDtype>>(of.arrays.scale);
  std::uint64_t done = 0;
  if (of.in_units) {
    const std::uint64_t units = of.count / (kUnitBytes / sizeof(Word));
    sum_units<Adds, uint4>(of.arrays, 0, units, scale, of.to, thread, threads);
    done = units * (kUnitBytes / sizeof(Word));
  }
  sum_units<Adds, Loose<Word>>(of.arrays, done, of.count, scale, of.to, thread, threads);
}

// Every block looks at the slots. If all hold sound frames it adds its part at once; if not,
// the last block alone takes what was spilled and adds all: none may wait for that on
// multiprocessors which the other blocks hold, as other ranks may need those to go on.
template <template <Dtype, bool> typename Adds, Dtype kDtype, bool kFactors, int kMost>
__global__ void __launch_bounds__(kSumThreads, 2)
    sum_kernel(const ToSum of, const Steps<ToFinish, kMost> slots, const DeviceEnd end) {
  device::Outcome outcome = device::kKnown;
  if (threadIdx.x < slots.count) outcome = verdict_of(slots.at[threadIdx.x].slot);
  const bool waits = __syncthreads_or(outcome == 0 || is_error(outcome)) != 0;
  if (!waits) {
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * kSumThreads + threadIdx.x;
    sum<Adds<kDtype, kFactors>, kDtype>(of, thread, std::uint64_t{gridDim.x} * kSumThreads);
  }
  if (of.arrived == nullptr || !is_last(of.arrived)) return;
  if (waits) {
    for (int at = 0; at < slots.count; ++at) finish<kDtype>(slots.at[at]);
    __syncthreads();
    sum<Adds<kDtype, kFactors>, kDtype>(of, threadIdx.x, kSumThreads);
  } else if (threadIdx.x < slots.count) {
    *slots.at[threadIdx.x].slot.outcome = outcome;
  }
  if (end.done == nullptr) return;
  __syncthreads();
  report(end);
}

inline bool is_in_units(const Operands& arrays, const std::byte* to) {
  const auto bits = reinterpret_cast<std::uintptr_t>(arrays.first) | arrays.stride |
                    reinterpret_cast<std::uintptr_t>(arrays.own_at) |
                    reinterpret_cast<std::uintptr_t>(to);
  return bits % kUnitBytes == 0;
}

template <template <Dtype, bool> typename Adds, int kMost>
Status launch_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                  const RunEnd* end, unsigned* arrived, device::StreamHandle stream) {
  using Kernel = void (*)(ToSum, Steps<ToFinish, kMost>, DeviceEnd);
  const auto kernel = with_float_dtype(dtype, [&](auto kDtype) -> Kernel {
    return step.arrays.factors.exist ? sum_kernel<Adds, kDtype, true, kMost>
                                     : sum_kernel<Adds, kDtype, false, kMost>;
  });
  const std::uint64_t units = step.count * dtype_size(dtype) / kUnitBytes;
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>(units / kSumThreads + 1, 1, kMostSumBlocks);
  const ToSum of{step.arrays, step.count, step.to, is_in_units(step.arrays, step.to),
                 slots.empty() && end == nullptr ? nullptr : arrived};
  return device::launch("cannot start a sum", kernel, {blocks, kSumThreads}, stream, of,
                        to_finish<kMost>(slots), end_of(end));
}

template <template <Dtype, bool> typename Adds>
Status launch_sum_of(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                     const RunEnd* end, unsigned* arrived, device::StreamHandle stream) {
  return slots.size() <= kFewSteps
             ? launch_sum<Adds, kFewSteps>(step, dtype, slots, end, arrived, stream)
             : launch_sum<Adds, kMostSteps>(step, dtype, slots, end, arrived, stream);
}

}  // namespace thinwire::collective
