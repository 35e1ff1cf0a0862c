// The range of an array's finite values, and the bound that is a share of it; spec/codec-szp.md,
// "Parameter". One kernel in front of the encode.
#pragma once

#include <algorithm>

#include "codec/cuda/launch.h"
#include "codec/cuda/variable_frame.cuh"
#include "codec/szp/core.h"
#include "codec/szp/format.h"
#include "codec/szp/tile.cuh"

namespace thinwire::codec::szp {

inline constexpr int kRangeThreads = 256;
inline constexpr std::uint64_t kMostRangeBlocks = 1056;

// The state in the workspace after the memory of the frame's kernels; all 0 before and after.
struct RangeState {
  unsigned long long most;   // key_of() of the largest value
  unsigned long long least;  // of the largest negative
  unsigned arrived;
  unsigned unused;
};

// Numbers in the order of their keys, all above 0.
__device__ inline unsigned long long key_of(double value) {
  const auto bits = to_bits(value);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

__device__ inline double of_key(unsigned long long key) {
  return from_bits<double>(key >> 63 != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// The least and the greatest value that a thread has seen; none yet while least > most.
template <typename Value>
struct Range {
  Value least, most;

  __device__ void take(Value value) {
    // NaN and infinity are no neighbours of a number.
    if (!(fabs(value) <= most_finite())) return;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  __device__ static Value most_finite() {
    return static_cast<Value>(sizeof(Value) == 4 ? static_cast<double>(FLT_MAX) : DBL_MAX);
  }
};

template <typename Value>
__device__ inline Range<Value> range_of(const std::byte* source, std::uint64_t count) {
  constexpr unsigned kUnit = 16 / sizeof(Value);
  Range<Value> range{Range<Value>::most_finite(), -Range<Value>::most_finite()};
  const std::uint64_t threads = std::uint64_t{gridDim.x} * kRangeThreads;
  const std::uint64_t first = blockIdx.x * std::uint64_t{kRangeThreads} + threadIdx.x;
  std::uint64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(source) % 16 == 0) {
    done = count / kUnit * kUnit;
#pragma unroll 4
    for (std::uint64_t at = first; at < count / kUnit; at += threads) {
      const uint4 words = __ldg(reinterpret_cast<const uint4*>(source) + at);
      Value loaded[kUnit];
      memcpy(loaded, &words, sizeof words);
#pragma unroll
      for (const Value value : loaded) range.take(value);
    }
  }
  for (std::uint64_t at = done + first; at < count; at += threads) {
    range.take(from_bits<Value>(cuda::load_value<BitsOf<Value>>(source + at * sizeof(Value))));
  }
  return range;
}

// Puts the resolved parameter where encode_variable looks for it.
template <typename Value>
__global__ void __launch_bounds__(kRangeThreads)
    resolve_range(const std::byte* source, std::uint64_t count, std::uint64_t parameter,
                  RangeState* state, cuda::VariableState* resolved) {
  __shared__ unsigned long long mosts[kRangeThreads / 32], leasts[kRangeThreads / 32];
  const Range<Value> range = range_of<Value>(source, count);
  const bool has = range.least <= range.most;
  unsigned long long most = has ? key_of(range.most) : 0;
  unsigned long long least = has ? key_of(-static_cast<double>(range.least)) : 0;
  for (int offset = 16; offset > 0; offset /= 2) {
    most = max(most, __shfl_xor_sync(kAllLanes, most, offset));
    least = max(least, __shfl_xor_sync(kAllLanes, least, offset));
  }
  if (threadIdx.x % 32 == 0) {
    mosts[threadIdx.x / 32] = most;
    leasts[threadIdx.x / 32] = least;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kRangeThreads / 32; ++warp) {
    most = max(most, mosts[warp]);
    least = max(least, leasts[warp]);
  }
  atomicMax(&state->most, most);
  atomicMax(&state->least, least);
  __threadfence();
  if (atomicInc(&state->arrived, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  most = atomicExch(&state->most, 0ull);
  least = atomicExch(&state->least, 0ull);
  resolved->parameter = most == 0 ? 0 : close_parameter(parameter, -of_key(least), of_key(most));
}

// A template as all kernels of headers are.
template <typename Value>
__global__ void take_given(const std::uint64_t* given, cuda::VariableState* resolved) {
  resolved->parameter = *static_cast<const volatile std::uint64_t*>(given);
}

// Enqueues either.
template <typename Value>
Status launch_range(const EncodeJob& job) {
  auto* const resolved = reinterpret_cast<cuda::VariableState*>(job.workspace);
  if (job.given != nullptr) {
    return cuda::launch(take_given<Value>, {1, 1}, job.stream, job.given, resolved);
  }
  const std::uint64_t count = job.layout.array.shape.count();
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>(count / (kRangeThreads * kTileValues), 1, kMostRangeBlocks);
  auto* const state = reinterpret_cast<RangeState*>(
      job.workspace + cuda::variable_workspace_bytes(job.layout, job.parameter));
  return cuda::launch(resolve_range<Value>, {blocks, kRangeThreads}, job.stream, job.source, count,
                      job.parameter, state, resolved);
}

}  // namespace thinwire::codec::szp
