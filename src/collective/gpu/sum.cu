// The sum of all ranks' arrays in the order of ranks: each array is read once, the result written
// once.
#include <algorithm>

#include "codec/reduce.h"
#include "collective/gpu/slots.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 2048;

// Word by word of what units of that place hold in all arrays.
template <Dtype kDtype, bool kFactors, typename Unit>
__device__ Unit summed(const Operands& arrays, std::uint64_t at, codec::NumberOf<kDtype> scale) {
  using Word = codec::WordOf<kDtype>;
  constexpr int kWords = sizeof(Unit) / sizeof(Word);
  codec::NumberOf<kDtype> sums[kWords];
  Word words[kWords];
  for (int rank = 0; rank < arrays.count; ++rank) {
    const Unit unit = reinterpret_cast<const Unit*>(arrays.at(rank))[at];
    memcpy(words, &unit, sizeof unit);
    codec::NumberOf<kDtype> factor = 1;
    if constexpr (kFactors) {
      factor = static_cast<codec::NumberOf<kDtype>>(arrays.factors.of(rank));
    }
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      auto number = codec::number_of<kDtype>(words[word]);
      if constexpr (kFactors) number *= factor;
      sums[word] = rank == 0 ? number : sums[word] + number;
    }
  }
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    words[word] = codec::word_of<kDtype>(sums[word] * scale);
  }
  Unit result;
  memcpy(&result, words, sizeof result);
  return result;
}

// A unit is read and written by one thread, so the result may be one of the arrays.
template <Dtype kDtype, bool kFactors, typename Unit>
__device__ void sum_units(const Operands& arrays, std::uint64_t first, std::uint64_t count,
                          codec::NumberOf<kDtype> scale, std::byte* to) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t at = first + std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < count;
       at += step) {
    reinterpret_cast<Unit*>(to)[at] = summed<kDtype, kFactors, Unit>(arrays, at, scale);
  }
}

template <Dtype kDtype, bool kFactors>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(Operands arrays, bool in_units, std::uint64_t count, double scale, std::byte* to) {
  using Word = codec::WordOf<kDtype>;
  const auto factor = static_cast<codec::NumberOf<kDtype>>(scale);
  std::uint64_t done = 0;
  if (in_units) {
    const std::uint64_t units = count / (kUnitBytes / sizeof(Word));
    sum_units<kDtype, kFactors, uint4>(arrays, 0, units, factor, to);
    done = units * (kUnitBytes / sizeof(Word));
  }
  sum_units<kDtype, kFactors, Loose<Word>>(arrays, done, count, factor, to);
}

bool is_in_units(const Operands& arrays, const std::byte* to) {
  const auto bits = reinterpret_cast<std::uintptr_t>(arrays.first) | arrays.stride |
                    reinterpret_cast<std::uintptr_t>(arrays.own_at) |
                    reinterpret_cast<std::uintptr_t>(to);
  return bits % kUnitBytes == 0;
}

}  // namespace

Status enqueue_sum(Dtype dtype, std::uint64_t count, const Operands& arrays, double scale,
                   std::byte* to, device::StreamHandle stream) {
  if (dtype == Dtype::kBytes) return {StatusCode::kUnsupported, "bytes cannot be added"};
  using Kernel = void (*)(Operands, bool, std::uint64_t, double, std::byte*);
  const auto kernel = with_float_dtype(dtype, [&](auto kDtype) -> Kernel {
    return arrays.factors.exist ? sum_kernel<kDtype, true> : sum_kernel<kDtype, false>;
  });
  const std::uint64_t threads = count * dtype_size(dtype) / kUnitBytes;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(threads / kThreads + 1, 1, kMostBlocks);
  return device::launch("cannot start a sum", kernel, {blocks, kThreads}, stream, arrays,
                        is_in_units(arrays, to), count, scale, to);
}

}  // namespace thinwire::collective
