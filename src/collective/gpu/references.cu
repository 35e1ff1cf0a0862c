// References in stream order: which there are, and where the next one lies, by one block of
// threads. references.h has what hosts do alike; differences.cu goes over the values.
#include "codec/accumulate.h"
#include "collective/gpu/references.cuh"
#include "collective/gpu/slots.h"
#include "device/any_alignment.cuh"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

using device::Outcome;

constexpr unsigned kFindThreads = 1024;

// The bits of this rank's differences from one result. By a warp; in lane 0.
template <typename Word>
__device__ std::uint64_t bits_from(const DifferStep& step, std::uint64_t number) {
  const std::uint64_t count = step.key.block_bytes / sizeof(Word);
  const std::byte* const block = step.references.values(number) + step.block * step.key.block_bytes;
  int bits = 0;
#pragma unroll 8
  for (std::uint64_t at = threadIdx.x % 32; at < sampled_places(count); at += 32) {
    const std::uint64_t place = sampled_place(at, count);
    bits += bits_in(folded_difference(device::load_value<Word>(step.values + place * sizeof(Word)),
                                      device::load_value<Word>(block + place * sizeof(Word))));
  }
  return sum_of_lanes(static_cast<std::uint64_t>(bits));
}

// The nearest result, the first of several as near; and what is said of it.
template <typename Word>
__global__ void __launch_bounds__(kFindThreads)
    find_kernel(const __grid_constant__ DifferStep step) {
  __shared__ unsigned long long best;
  if (threadIdx.x == 0) best = ~0ull;
  __syncthreads();
  const ReferenceTable& table = step.references.table();
  const std::uint64_t samples = sampled_places(step.key.block_bytes / sizeof(Word));
  for (std::uint64_t number = 1 + threadIdx.x / 32; number <= table.count;
       number += kFindThreads / 32) {
    if (!is_of(table.entries[number - 1], step.key)) continue;
    const std::uint64_t bits = bits_from<Word>(step, number);
    if (threadIdx.x % 32 != 0 || !is_near(bits, samples, 8 * sizeof(Word))) continue;
    atomicMin(&best, static_cast<unsigned long long>(bits << 32 | number));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint64_t number = best == ~0ull ? kNoReference : best & 0xFFFFFFFFu;
  const std::uint64_t sum =
      number == kNoReference ? 0 : step.references.sums(step.key, number)[step.block];
  *reinterpret_cast<slot::SlotWords*>(step.said) =
      told_reference(step.call, step.block, number, sum);
}

// Which references the blocks have, where the result is kept, and whether all is sound.
__global__ void __launch_bounds__(kFindThreads)
    match_kernel(const __grid_constant__ RestoreStep step) {
  __shared__ unsigned long long first_block, blocks;
  __shared__ int unsound;
  __shared__ std::uint64_t kept;
  if (threadIdx.x == 0) {
    first_block = ~0ull;
    blocks = 0;
    unsound = 0;
  }
  __syncthreads();
  for (std::uint64_t block = threadIdx.x; block < step.key.blocks; block += kFindThreads) {
    const std::uint64_t number = reference_in(words_at(step.said + block * kSlotUnit), step.call,
                                              block, step.references, step.key);
    step.found[block] = number;
    if (number == kUnsoundReference) {
      unsound = 1;
    } else if (number != kNoReference) {
      atomicMin(&first_block, static_cast<unsigned long long>(block));
      atomicAdd(&blocks, 1ull);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint64_t found = first_block == ~0ull ? kNoReference : step.found[first_block];
    kept = place_result(step.references, step.key, found);
    step.found[step.key.blocks] = kept;
    *step.outcome = unsound != 0
                        ? device::make_outcome(StatusCode::kDamaged, 0)
                        : device::make_outcome(StatusCode::kOk, blocks * step.key.block_bytes);
  }
  __syncthreads();
  if (kept == kNoReference) return;
  std::uint64_t* const sums = step.references.sums(step.key, kept);
  for (std::uint64_t block = threadIdx.x; block < step.key.blocks; block += kFindThreads) {
    sums[block] = 0;
  }
}

}  // namespace

Status enqueue_find(const DifferStep& step, Dtype dtype, device::StreamHandle stream) {
  return with_any_float_dtype(dtype, [&](auto kDtype) {
    return device::launch("cannot find a reference", find_kernel<codec::WordOf<kDtype>>,
                          {1, kFindThreads}, stream, step);
  });
}

Status enqueue_match(const RestoreStep& step, device::StreamHandle stream) {
  return device::launch("cannot match references", match_kernel, {1, kFindThreads}, stream, step);
}

}  // namespace thinwire::collective
