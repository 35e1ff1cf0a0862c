// References in stream order: references.h has what hosts do alike. Two kernels before the encodes,
// two behind all else: one block of threads that finds or places, and one that goes over the
// values.
#include <algorithm>

#include "base/bytes.h"
#include "codec/reduce.h"
#include "collective/gpu/slots.h"
#include "collective/gpu/units.h"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

using device::Outcome;

constexpr unsigned kFindThreads = 1024;
constexpr unsigned kValueThreads = 256;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;
constexpr std::uint64_t kMostBlocks = 1056;      // eight for each multiprocessor of an H100
constexpr std::uint64_t kPartWords = 16 * 1024;  // of one block, by a thread block at a time

template <typename Word>
__device__ Word word_at(const std::byte* values, std::uint64_t at) {
  const auto loose = reinterpret_cast<const Loose<Word>*>(values)[at];
  Word word;
  memcpy(&word, &loose, sizeof word);
  return word;
}

template <typename Word>
__device__ void put_word(std::byte* values, std::uint64_t at, Word word) {
  Loose<Word> loose;
  memcpy(&loose, &word, sizeof word);
  reinterpret_cast<Loose<Word>*>(values)[at] = loose;
}

__device__ slot::SlotWords words_at(const std::byte* at) {
  return *reinterpret_cast<const slot::SlotWords*>(at);
}

// In lane 0.
__device__ std::uint64_t sum_of_lanes(std::uint64_t sum) {
  for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(kAllLanes, sum, far);
  return sum;
}

// The bits of this rank's differences from one result. By a warp; in lane 0.
template <typename Word>
__device__ std::uint64_t bits_from(const DifferStep& step, std::uint64_t number) {
  const std::uint64_t count = step.key.block_bytes / sizeof(Word);
  const std::byte* const block = step.references.values(number) + step.block * step.key.block_bytes;
  int bits = 0;
#pragma unroll 8
  for (std::uint64_t at = threadIdx.x % 32; at < sampled_places(count); at += 32) {
    const std::uint64_t place = sampled_place(at, count);
    bits +=
        bits_in(folded_difference(word_at<Word>(step.values, place), word_at<Word>(block, place)));
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

template <typename Word>
__global__ void __launch_bounds__(kValueThreads)
    differ_kernel(const __grid_constant__ DifferStep step) {
  const std::uint64_t number = words_at(step.said).word[3];
  const std::uint64_t count = step.key.block_bytes / sizeof(Word);
  const std::uint64_t first = blockIdx.x * std::uint64_t{kValueThreads} + threadIdx.x;
  const std::uint64_t next = gridDim.x * std::uint64_t{kValueThreads};
  auto* const to = reinterpret_cast<Word*>(step.to);
  if (number == kNoReference) {
#pragma unroll 4
    for (std::uint64_t at = first; at < count; at += next) to[at] = word_at<Word>(step.values, at);
    return;
  }
  const auto* const reference = reinterpret_cast<const Word*>(step.references.values(number) +
                                                              step.block * step.key.block_bytes);
#pragma unroll 4
  for (std::uint64_t at = first; at < count; at += next) {
    to[at] = folded_difference(word_at<Word>(step.values, at), reference[at]);
  }
}

// Which references the blocks have, where the result is kept, and whether all is sound.
__global__ void __launch_bounds__(kFindThreads)
    settle_kernel(const __grid_constant__ RestoreStep step) {
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

// One part of a block: values again, kept, and added to the block's sum.
template <typename Word>
__device__ void restore_part(const RestoreStep& step, std::uint64_t block, std::uint64_t from,
                             std::uint64_t end, Word nan) {
  const std::uint64_t number = step.found[block], kept = step.found[step.key.blocks];
  const bool is_own = step.own_values != nullptr && block == step.own;
  if (kept == kNoReference && (is_own || number == kNoReference)) return;
  const std::uint64_t offset = block * step.key.block_bytes;
  const bool unsound = number == kUnsoundReference;
  const bool adds = !is_own && !unsound && number != kNoReference;
  const bool writes = adds || (!is_own && unsound);
  std::byte* const values = step.values + offset;
  const std::byte* const came = is_own ? step.own_values : values;
  const auto* const reference =
      adds ? reinterpret_cast<const Word*>(step.references.values(number) + offset) : nullptr;
  auto* const keeps = kept == kNoReference
                          ? nullptr
                          : reinterpret_cast<Word*>(step.references.values(kept) + offset);
  std::uint64_t sum = 0;
#pragma unroll 4
  for (std::uint64_t at = from + threadIdx.x; at < end; at += kValueThreads) {
    Word word = word_at<Word>(came, at);
    if (adds) word = unfolded_sum(word, reference[at]);
    if (unsound) word = nan;
    if (writes) put_word(values, at, word);
    if (keeps != nullptr) keeps[at] = word;
    sum += summed(word, at);
  }
  if (keeps == nullptr) return;
  sum = sum_of_lanes(sum);
  if (threadIdx.x % 32 != 0) return;
  auto* const sums = reinterpret_cast<unsigned long long*>(step.references.sums(step.key, kept));
  atomicAdd(sums + block, static_cast<unsigned long long>(sum));
}

template <Dtype kDtype>
__global__ void __launch_bounds__(kValueThreads)
    restore_kernel(const __grid_constant__ RestoreStep step) {
  using Word = codec::WordOf<kDtype>;
  const std::uint64_t count = step.key.block_bytes / sizeof(Word);
  const std::uint64_t parts = ceil_div(count, kPartWords);
  for (std::uint64_t part = blockIdx.x; part < parts * step.key.blocks; part += gridDim.x) {
    const std::uint64_t from = part % parts * kPartWords;
    const std::uint64_t end = from + kPartWords < count ? from + kPartWords : count;
    restore_part<Word>(step, part / parts, from, end, codec::nan_word<kDtype>());
  }
}

}  // namespace

Status enqueue_differ(const DifferStep& step, Dtype dtype, device::StreamHandle stream) {
  return with_any_float_dtype(dtype, [&](auto kDtype) {
    using Word = codec::WordOf<kDtype>;
    const Status found = device::launch("cannot find a reference", find_kernel<Word>,
                                        {1, kFindThreads}, stream, step);
    if (!found.ok()) return found;
    const std::uint64_t blocks =
        std::min(ceil_div(step.key.block_bytes / sizeof(Word), 4 * kValueThreads), kMostBlocks);
    return device::launch("cannot make differences", differ_kernel<Word>, {blocks, kValueThreads},
                          stream, step);
  });
}

Status enqueue_restore(const RestoreStep& step, Dtype dtype, device::StreamHandle stream) {
  const Status settled =
      device::launch("cannot settle references", settle_kernel, {1, kFindThreads}, stream, step);
  if (!settled.ok()) return settled;
  return with_any_float_dtype(dtype, [&](auto kDtype) {
    const std::uint64_t count = step.key.block_bytes / sizeof(codec::WordOf<kDtype>);
    const std::uint64_t parts = ceil_div(count, kPartWords) * step.key.blocks;
    return device::launch("cannot restore values", restore_kernel<kDtype>,
                          {std::min(parts, kMostBlocks), kValueThreads}, stream, step);
  });
}

}  // namespace thinwire::collective
