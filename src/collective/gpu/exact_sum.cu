// Exact sums of all ranks' arrays: by doubles that lose nothing, and word by word in wider numbers
// if those do.
#include "collective/exact.h"
#include "collective/exact_pair.h"
#include "collective/gpu/sum.cuh"

namespace thinwire::collective {
namespace {

// Rare, and of many more registers than the other path.
template <Dtype kDtype, bool kFactors>
__device__ codec::WordOf<kDtype> total(const Operands& arrays, std::uint64_t at,
                                       codec::NumberOf<kDtype> scale) {
  using Word = codec::WordOf<kDtype>;
  using Number = codec::NumberOf<kDtype>;
  ExactTotal<kDtype> exact;
  for (int rank = 0; rank < arrays.count; ++rank) {
    const Loose<Word> loose = reinterpret_cast<const Loose<Word>*>(arrays.at(rank))[at];
    Word word;
    memcpy(&word, &loose, sizeof word);
    Number factor = scale;
    if constexpr (kFactors) factor = static_cast<Number>(arrays.factor_of(rank));
    exact.add(codec::number_of<kDtype>(word) * factor);
  }
  return exact.rounded(arrays.divisor);
}

template <Dtype kDtype, bool kFactors>
struct Exactly {
  using Word = codec::WordOf<kDtype>;
  using Number = codec::NumberOf<kDtype>;

  template <typename Unit>
  __device__ static Unit summed(const Operands& arrays, std::uint64_t at, Number scale) {
    constexpr int kWords = sizeof(Unit) / sizeof(Word);
    double sums[kWords], rests[kWords] = {};
    Word words[kWords];
    std::uint64_t lost = 0;
    for (int rank = 0; rank < arrays.count; ++rank) {
      const Unit unit = reinterpret_cast<const Unit*>(arrays.at(rank))[at];
      memcpy(words, &unit, sizeof unit);
      Number factor = scale;
      if constexpr (kFactors) factor = static_cast<Number>(arrays.factor_of(rank));
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        const Number number = codec::number_of<kDtype>(words[word]) * factor;
        if (rank == 0) {
          sums[word] = number;
        } else {
          PairTotal<kDtype>::add(number, sums[word], rests[word], lost);
        }
      }
    }
    bool is_found = lost == 0;
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      if (arrays.divisor <= 1) {
        words[word] = word_of_pair<kDtype>(sums[word], rests[word]);
      } else {
        is_found &= mean_of_pair<kDtype>(sums[word], rests[word], arrays.divisor, words[word]);
      }
    }
    if (is_found) {
      Unit result;
      memcpy(&result, words, sizeof result);
      return result;
    }
    return one_by_one<Unit>(arrays, at, scale);
  }

 private:
  template <typename Unit>
  __device__ static Unit one_by_one(const Operands& arrays, std::uint64_t at, Number scale) {
    constexpr int kWords = sizeof(Unit) / sizeof(Word);
    Unit result;
#pragma unroll 1
    for (int word = 0; word < kWords; ++word) {
      const Word sum =
          total<kDtype, kFactors>(arrays, at * kWords + static_cast<std::uint64_t>(word), scale);
      memcpy(reinterpret_cast<std::byte*>(&result) + word * sizeof sum, &sum, sizeof sum);
    }
    return result;
  }
};

}  // namespace

Status enqueue_exact_sum(const SumStep& step, Dtype dtype, std::span<const FinishStep> slots,
                         const RunEnd* end, unsigned* arrived, device::StreamHandle stream) {
  return launch_sum_of<Exactly>(step, dtype, slots, end, arrived, stream);
}

}  // namespace thinwire::collective
