// One array into another of the same device, at the speed of memory if both are aligned alike.
// Operands in pinned memory are read over the bus, without a copy.
#include <algorithm>

#include "collective/combined.h"
#include "collective/gpu/kernels.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 2048;
constexpr int kUnitsAtOnce = 2;
constexpr int kWordsAtOnce = 4;

// Word by word of what two units hold.
template <Dtype kDtype, Reduction kReduction, typename Unit>
__device__ Unit combined_unit(const Unit& there, const Unit& value) {
  using Word = codec::WordOf<kDtype>;
  constexpr int kWords = sizeof(Unit) / sizeof(Word);
  Word a[kWords], b[kWords];
  memcpy(a, &there, sizeof there);
  memcpy(b, &value, sizeof value);
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    a[word] = combined<kDtype, kReduction>(a[word], b[word]);
  }
  Unit result;
  memcpy(&result, a, sizeof result);
  return result;
}

// All threads of the grid; each has `kAtOnce` units of both arrays under way. One unit is read and
// written by one thread, so the arrays may be the same.
template <Dtype kDtype, Reduction kReduction, int kAtOnce, typename Unit>
__device__ void combine_units(std::uint64_t count, Unit* into, const Unit* from) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; first < count;
       first += kAtOnce * step) {
    Unit there[kAtOnce], value[kAtOnce];
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = first + each * step;
      if (at < count) {
        there[each] = into[at];
        value[each] = from[at];
      }
    }
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = first + each * step;
      if (at < count) into[at] = combined_unit<kDtype, kReduction>(there[each], value[each]);
    }
  }
}

template <Dtype kDtype, Reduction kReduction>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(Units units, std::byte* into, const std::byte* from) {
  using Word = codec::WordOf<kDtype>;
  const auto run = [&]<typename Unit, int kAtOnce>(std::uint64_t offset, std::uint64_t count) {
    combine_units<kDtype, kReduction, kAtOnce>(count, reinterpret_cast<Unit*>(into + offset),
                                               reinterpret_cast<const Unit*>(from + offset));
  };
  if (units.at_odd_bytes) {
    run.template operator()<Loose<Word>, kWordsAtOnce>(0, units.head);
    return;
  }
  const std::uint64_t head_bytes = units.head * sizeof(Word);
  run.template operator()<Word, kWordsAtOnce>(0, units.head);
  run.template operator()<uint4, kUnitsAtOnce>(head_bytes, units.units);
  run.template operator()<Word, 1>(head_bytes + units.units * kUnitBytes, units.tail);
}

using Kernel = void (*)(Units, std::byte*, const std::byte*);

template <Reduction kReduction>
Kernel kernel_of(Dtype dtype) {
  return with_float_dtype(dtype,
                          [](auto kDtype) -> Kernel { return combine_kernel<kDtype, kReduction>; });
}

Kernel kernel_of(Reduction reduction, Dtype dtype) {
  switch (reduction) {
    case Reduction::kSum:
      return kernel_of<Reduction::kSum>(dtype);
    case Reduction::kProduct:
      return kernel_of<Reduction::kProduct>(dtype);
    case Reduction::kMinimum:
      return kernel_of<Reduction::kMinimum>(dtype);
    case Reduction::kMaximum:
      return kernel_of<Reduction::kMaximum>(dtype);
  }
  return nullptr;
}

}  // namespace

Status enqueue_combine(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
                       const std::byte* from, device::StreamHandle stream) {
  if (!is_added(dtype)) {
    return {StatusCode::kUnsupported, "values of this type cannot be reduced"};
  }
  const Kernel kernel = kernel_of(reduction, dtype);
  const Units units = cut_in_units(into, from, dtype_size(dtype), count);
  const std::uint64_t threads =
      std::max({units.units / kUnitsAtOnce, units.head / kWordsAtOnce, units.tail});
  const std::uint64_t blocks = std::clamp<std::uint64_t>(threads / kThreads + 1, 1, kMostBlocks);
  return device::launch("cannot start a reduction", kernel, {blocks, kThreads}, stream, units, into,
                        from);
}

}  // namespace thinwire::collective
