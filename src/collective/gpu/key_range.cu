// One pass over an array: a range a thread block, for the host to join.
#include <algorithm>

#include "collective/gpu/kernels.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint64_t kValuesOfThread = 16;

// All threads of the grid.
template <Dtype kDtype, typename Unit>
__device__ void take_units(std::uint64_t count, const Unit* values, Seen<kDtype>& seen) {
  using Word = codec::WordOf<kDtype>;
  constexpr int kWords = sizeof(Unit) / sizeof(Word);
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < count;
       at += step) {
    const Unit unit = values[at];
    Word words[kWords];
    memcpy(words, &unit, sizeof unit);
#pragma unroll
    for (int word = 0; word < kWords; ++word) seen.take(words[word]);
  }
}

template <Dtype kDtype>
__device__ Seen<kDtype> seen_by_thread(const Units& units, const std::byte* values) {
  using Word = codec::WordOf<kDtype>;
  Seen<kDtype> seen;
  if (units.at_odd_bytes) {
    take_units(units.head, reinterpret_cast<const Loose<Word>*>(values), seen);
    return seen;
  }
  const std::byte* const middle = values + units.head * sizeof(Word);
  const std::byte* const tail = middle + units.units * kUnitBytes;
  take_units(units.head, reinterpret_cast<const Word*>(values), seen);
  take_units(units.units, reinterpret_cast<const uint4*>(middle), seen);
  take_units(units.tail, reinterpret_cast<const Word*>(tail), seen);
  return seen;
}

__device__ KeyRange joined_in_warp(KeyRange range) {
  for (int distance = 16; distance > 0; distance /= 2) {
    KeyRange other;
    other.least = __shfl_xor_sync(0xffffffffu, range.least, distance);
    other.most = __shfl_xor_sync(0xffffffffu, range.most, distance);
    other.outside = __shfl_xor_sync(0xffffffffu, range.outside, distance);
    range.join(other);
  }
  return range;
}

template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads)
    find_key_ranges(Units units, const std::byte* values, KeyRange* ranges) {
  __shared__ std::int64_t of_warps[kWarps][3];
  KeyRange range = joined_in_warp(KeyRange::of(seen_by_thread<kDtype>(units, values)));
  if (threadIdx.x % 32 == 0) {
    std::int64_t* const own = of_warps[threadIdx.x / 32];
    own[0] = range.least;
    own[1] = range.most;
    own[2] = range.outside;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) {
    range.join({of_warps[warp][0], of_warps[warp][1], of_warps[warp][2]});
  }
  ranges[blockIdx.x] = range;
}

using Kernel = void (*)(Units, const std::byte*, KeyRange*);

}  // namespace

std::uint64_t key_ranges(std::uint64_t count) {
  return std::clamp<std::uint64_t>(count / (kThreads * kValuesOfThread), 1, kMostKeyRanges);
}

Status enqueue_key_ranges(Dtype dtype, std::uint64_t count, const std::byte* values,
                          KeyRange* ranges, device::StreamHandle stream) {
  if (!is_added(dtype)) {
    return {StatusCode::kUnsupported, "values of this type have no range here"};
  }
  const auto kernel =
      with_float_dtype(dtype, [](auto kDtype) -> Kernel { return find_key_ranges<kDtype>; });
  const Units units = cut_in_units(values, values, dtype_size(dtype), count);
  return device::launch("cannot look at values", kernel, {key_ranges(count), kThreads}, stream,
                        units, values, ranges);
}

}  // namespace thinwire::collective
