// The sum of all ranks' arrays in the order of ranks: each array is read once, the result written
// once. The slots that they came in are finished by the same kernel, and the run reported.
#include <algorithm>

#include "codec/accumulate.h"
#include "collective/gpu/slots.h"
#include "collective/gpu/steps.cuh"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

// Threads of a block, which adds alone if a block was spilled.
constexpr int kThreads = 512;
constexpr std::uint64_t kMostBlocks = 1024;

// Word by word of what units of that place hold in all arrays.
template <Dtype kDtype, bool kFactors, typename Unit>
__device__ Unit summed(const Operands& arrays, std::uint64_t at, codec::NumberOf<kDtype> scale) {
  using Word = codec::WordOf<kDtype>;
  using Number = codec::NumberOf<kDtype>;
  constexpr int kWords = sizeof(Unit) / sizeof(Word);
  Number sums[kWords];
  Word words[kWords];
  for (int rank = 0; rank < arrays.count; ++rank) {
    const Unit unit = reinterpret_cast<const Unit*>(arrays.at(rank))[at];
    memcpy(words, &unit, sizeof unit);
    Number factor = scale;
    if constexpr (kFactors) factor = static_cast<Number>(arrays.factor_of(rank));
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const Number number = codec::number_of<kDtype>(words[word]) * factor;
      sums[word] = rank == 0 ? number : sums[word] + number;
    }
  }
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    words[word] = codec::word_of<kDtype>(sums[word]);
  }
  Unit result;
  memcpy(&result, words, sizeof result);
  return result;
}

// A unit is read and written by one thread, so the result may be one of the arrays. `thread` of so
// many `threads`.
template <Dtype kDtype, bool kFactors, typename Unit>
__device__ void sum_units(const Operands& arrays, std::uint64_t first, std::uint64_t count,
                          codec::NumberOf<kDtype> scale, std::byte* to, std::uint64_t thread,
                          std::uint64_t threads) {
  for (std::uint64_t at = first + thread; at < count; at += threads) {
    reinterpret_cast<Unit*>(to)[at] = summed<kDtype, kFactors, Unit>(arrays, at, scale);
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

template <Dtype kDtype, bool kFactors>
__device__ void sum(const ToSum& of, std::uint64_t thread, std::uint64_t threads) {
  using Word = codec::WordOf<kDtype>;
  const auto scale = static_cast<codec::NumberOf<kDtype>>(of.arrays.scale);
  std::uint64_t done = 0;
  if (of.in_units) {
    const std::uint64_t units = of.count / (kUnitBytes / sizeof(Word));
    sum_units<kDtype, kFactors, uint4>(of.arrays, 0, units, scale, of.to, thread, threads);
    done = units * (kUnitBytes / sizeof(Word));
  }
  sum_units<kDtype, kFactors, Loose<Word>>(of.arrays, done, of.count, scale, of.to, thread,
                                           threads);
}

// Every block looks at the slots. If all hold sound frames it adds its part at once; if not,
// the last block alone takes what was spilled and adds all: none may wait for that on
// multiprocessors which the other blocks hold, as other ranks may need those to go on.
template <Dtype kDtype, bool kFactors, int kMost>
__global__ void __launch_bounds__(kThreads, 2)
    sum_kernel(const ToSum of, const Steps<ToFinish, kMost> slots, const DeviceEnd end) {
  device::Outcome outcome = device::kKnown;
  if (threadIdx.x < slots.count) outcome = verdict_of(slots.at[threadIdx.x].slot);
  const bool waits = __syncthreads_or(outcome == 0 || is_error(outcome)) != 0;
  if (!waits) {
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
    sum<kDtype, kFactors>(of, thread, std::uint64_t{gridDim.x} * kThreads);
  }
  if (of.arrived == nullptr || !is_last(of.arrived)) return;
  if (waits) {
    for (int at = 0; at < slots.count; ++at) finish<kDtype>(slots.at[at]);
    __syncthreads();
    sum<kDtype, kFactors>(of, threadIdx.x, kThreads);
  } else if (threadIdx.x < slots.count) {
    *slots.at[threadIdx.x].slot.outcome = outcome;
  }
  if (end.done == nullptr) return;
  __syncthreads();
  report(end);
}

bool is_in_units(const Operands& arrays, const std::byte* to) {
  const auto bits = reinterpret_cast<std::uintptr_t>(arrays.first) | arrays.stride |
                    reinterpret_cast<std::uintptr_t>(arrays.own_at) |
                    reinterpret_cast<std::uintptr_t>(to);
  return bits % kUnitBytes == 0;
}

template <int kMost>
Status launch_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                  const RunEnd* end, unsigned* arrived, device::StreamHandle stream) {
  using Kernel = void (*)(ToSum, Steps<ToFinish, kMost>, DeviceEnd);
  const auto kernel = with_float_dtype(dtype, [&](auto kDtype) -> Kernel {
    return step.arrays.factors.exist ? sum_kernel<kDtype, true, kMost>
                                     : sum_kernel<kDtype, false, kMost>;
  });
  const std::uint64_t units = step.count * dtype_size(dtype) / kUnitBytes;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(units / kThreads + 1, 1, kMostBlocks);
  const ToSum of{step.arrays, step.count, step.to, is_in_units(step.arrays, step.to),
                 slots.empty() && end == nullptr ? nullptr : arrived};
  return device::launch("cannot start a sum", kernel, {blocks, kThreads}, stream, of,
                        to_finish<kMost>(slots), end_of(end));
}

}  // namespace

Status enqueue_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                   const RunEnd* end, unsigned* arrived, device::StreamHandle stream) {
  if (!is_added(dtype)) {
    return {StatusCode::kUnsupported, "values of this type cannot be added"};
  }
  if (arrived == nullptr && end != nullptr) {  // a rank alone
    const Status summed = enqueue_sum(step, dtype, slots, nullptr, nullptr, stream);
    return summed.ok() ? enqueue_run_report(*end, nullptr, stream) : summed;
  }
  return slots.size() <= kFewSteps
             ? launch_sum<kFewSteps>(step, dtype, slots, end, arrived, stream)
             : launch_sum<kMostSteps>(step, dtype, slots, end, arrived, stream);
}

}  // namespace thinwire::collective
