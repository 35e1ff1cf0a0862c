// Sums of all ranks' arrays in the order of ranks.
#include "collective/gpu/kernels.h"
#include "collective/gpu/sum.cuh"

namespace thinwire::collective {
namespace {

template <Dtype kDtype, bool kFactors>
struct InOrder {
  template <typename Unit>
  __device__ static Unit summed(const Operands& arrays, std::uint64_t at,
                                codec::NumberOf<kDtype> scale) {
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
};

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
  if (step.arrays.is_exact) return enqueue_exact_sum(step, dtype, slots, end, arrived, stream);
  return launch_sum_of<InOrder>(step, dtype, slots, end, arrived, stream);
}

Status enqueue_sum_of_arrays(Dtype dtype, std::uint64_t count, const Operands& arrays,
                             std::byte* to, device::StreamHandle stream) {
  return enqueue_sum({arrays, count, to}, dtype, {}, nullptr, nullptr, stream);
}

}  // namespace thinwire::collective
