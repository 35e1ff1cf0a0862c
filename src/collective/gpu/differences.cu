// Differences in stream order, from references that references.cu has found: of this rank's values,
// and of what came. At the speed of memory if arrays are aligned.
#include <algorithm>

#include "base/bytes.h"
#include "codec/accumulate.h"
#include "collective/gpu/references.cuh"
#include "collective/gpu/slots.h"
#include "collective/gpu/units.h"
#include "device/any_alignment.cuh"
#include "device/launch.h"

namespace thinwire::collective {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1056;      // eight for each multiprocessor of an H100
constexpr std::uint64_t kPartBytes = 32 * 1024;  // of one block, by a thread block at a time
constexpr int kAtOnce = 2;                       // groups of a thread that are under way

// Values that one thread takes at once: where all arrays are aligned 16 bytes, else one.
template <typename Word, int kWords>
struct alignas(kWords == 1 ? alignof(Word) : kUnitBytes) Group {
  static constexpr int kCount = kWords;
  Word word[kWords];

  __device__ static Group at(const std::byte* values) {
    if constexpr (kWords == 1) {
      return {device::load_value<Word>(values)};
    } else {
      return *reinterpret_cast<const Group*>(values);
    }
  }
  __device__ void put(std::byte* values) const {
    if constexpr (kWords == 1) {
      device::store_value(values, word[0]);
    } else {
      *reinterpret_cast<Group*>(values) = *this;
    }
  }
};

// Calls work(Group<...>{}) with what arrays at these addresses are taken in. Those of results lie
// at multiples of 256 bytes, and their blocks after each other.
template <typename Word, typename Work>
__device__ void in_groups(const void* first, const void* second, std::uint64_t block_bytes,
                          Work&& work) {
  const auto all = reinterpret_cast<std::uintptr_t>(first) |
                   reinterpret_cast<std::uintptr_t>(second) | block_bytes;
  if (all % kUnitBytes == 0) {
    work(Group<Word, kUnitBytes / sizeof(Word)>{});
  } else {
    work(Group<Word, 1>{});
  }
}

template <typename Word, typename Taken>
__device__ void differ(const DifferStep& step, std::uint64_t number, Taken) {
  const std::uint64_t next = gridDim.x * std::uint64_t{kThreads} * sizeof(Taken);
  const std::uint64_t first = (blockIdx.x * std::uint64_t{kThreads} + threadIdx.x) * sizeof(Taken);
  const std::byte* const reference =
      number == kNoReference ? nullptr
                             : step.references.values(number) + step.block * step.key.block_bytes;
  const std::uint64_t end = step.key.block_bytes;
  for (std::uint64_t base = first; base < end; base += kAtOnce * next) {
    Taken group[kAtOnce], other[kAtOnce];
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = base + each * next;
      if (at >= end) break;
      group[each] = Taken::at(step.values + at);
      if (reference != nullptr) other[each] = Taken::at(reference + at);
    }
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = base + each * next;
      if (at >= end) break;
#pragma unroll
      for (int word = 0; reference != nullptr && word < Taken::kCount; ++word) {
        group[each].word[word] = folded_difference(group[each].word[word], other[each].word[word]);
      }
      group[each].put(step.to + at);
    }
  }
}

template <typename Word>
__global__ void __launch_bounds__(kThreads) differ_kernel(const __grid_constant__ DifferStep step) {
  const std::uint64_t number = words_at(step.said).word[3];
  in_groups<Word>(step.values, step.to, step.key.block_bytes,
                  [&](auto group) { differ<Word>(step, number, group); });
}

THINWIRE_HOST_DEVICE std::uint64_t blocks_of(const RestoreStep& step) {
  return step.listed == 0 ? step.key.blocks : static_cast<std::uint64_t>(step.listed);
}

// Work on a block: nullptr if there is none.
struct Restored {
  const std::byte* came;       // the values, or the differences
  const std::byte* reference;  // to be added
  std::byte* to;               // where they come to be values
  std::byte* keeps;            // the kept result
  bool makes_nan;
};

// From `from` to `end`, in bytes; the thread's share of the block's sum.
template <typename Word, typename Taken>
__device__ std::uint64_t restore(const Restored& block, std::uint64_t from, std::uint64_t end,
                                 Word nan, Taken) {
  constexpr std::uint64_t kNext = kThreads * sizeof(Taken);
  std::uint64_t sum = 0;
  for (std::uint64_t base = from + threadIdx.x * sizeof(Taken); base < end;
       base += kAtOnce * kNext) {
    Taken group[kAtOnce], other[kAtOnce];
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = base + each * kNext;
      if (at >= end) break;
      group[each] = Taken::at(block.came + at);
      if (block.reference != nullptr) other[each] = Taken::at(block.reference + at);
    }
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t at = base + each * kNext;
      if (at >= end) break;
#pragma unroll
      for (int place = 0; place < Taken::kCount; ++place) {
        Word& word = group[each].word[place];
        if (block.reference != nullptr) word = unfolded_sum(word, other[each].word[place]);
        if (block.makes_nan) word = nan;
        if (block.keeps != nullptr) sum += summed(word, at / sizeof(Word) + place);
      }
      if (block.to != nullptr) group[each].put(block.to + at);
      if (block.keeps != nullptr) group[each].put(block.keeps + at);
    }
  }
  return sum;
}

__device__ Restored restored(const RestoreStep& step, std::uint64_t block) {
  const std::uint64_t number = step.found[block], kept = step.found[step.key.blocks];
  const bool is_own = step.own_values != nullptr && block == step.own;
  const std::uint64_t offset = block * step.key.block_bytes;
  const bool makes_nan = !is_own && number == kUnsoundReference;
  const bool adds = step.adds && !is_own && !makes_nan && number != kNoReference;
  std::byte* const values = step.values + offset;
  return {
      .came = is_own ? step.own_values : values,
      .reference = adds ? step.references.values(number) + offset : nullptr,
      .to = adds || makes_nan ? values : nullptr,
      .keeps = step.keeps && kept != kNoReference ? step.references.values(kept) + offset : nullptr,
      .makes_nan = makes_nan};
}

// One part of a block.
template <typename Word>
__device__ void restore_part(const RestoreStep& step, std::uint64_t block, std::uint64_t from,
                             std::uint64_t end, Word nan) {
  const Restored each = restored(step, block);
  if (each.to == nullptr && each.keeps == nullptr) return;
  std::uint64_t sum = 0;
  in_groups<Word>(each.came, each.to, step.key.block_bytes,
                  [&](auto group) { sum = restore<Word>(each, from, end, nan, group); });
  if (each.keeps == nullptr) return;
  sum = sum_of_lanes(sum);
  if (threadIdx.x % 32 != 0) return;
  const std::uint64_t kept = step.found[step.key.blocks];
  auto* const sums = reinterpret_cast<unsigned long long*>(step.references.sums(step.key, kept));
  atomicAdd(sums + block, static_cast<unsigned long long>(sum));
}

template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads)
    restore_kernel(const __grid_constant__ RestoreStep step) {
  using Word = codec::WordOf<kDtype>;
  const std::uint64_t bytes = step.key.block_bytes;
  const std::uint64_t parts = ceil_div(bytes, kPartBytes);
  for (std::uint64_t at = blockIdx.x; at < parts * blocks_of(step); at += gridDim.x) {
    const std::uint64_t from = at % parts * kPartBytes;
    const std::uint64_t end = from + kPartBytes < bytes ? from + kPartBytes : bytes;
    const std::uint64_t block = step.listed == 0 ? at / parts : step.blocks[at / parts];
    restore_part<Word>(step, block, from, end, codec::nan_word<kDtype>());
  }
}

}  // namespace

Status enqueue_differ(const DifferStep& step, Dtype dtype, device::StreamHandle stream) {
  const std::uint64_t blocks =
      std::min(ceil_div(step.key.block_bytes, kAtOnce * kThreads * kUnitBytes), kMostBlocks);
  return with_any_float_dtype(dtype, [&](auto kDtype) {
    return device::launch("cannot make differences", differ_kernel<codec::WordOf<kDtype>>,
                          {blocks, kThreads}, stream, step);
  });
}

Status enqueue_restore(const RestoreStep& step, Dtype dtype, device::StreamHandle stream) {
  const std::uint64_t parts = ceil_div(step.key.block_bytes, kPartBytes) * blocks_of(step);
  return with_any_float_dtype(dtype, [&](auto kDtype) {
    return device::launch("cannot restore values", restore_kernel<kDtype>,
                          {std::min(parts, kMostBlocks), kThreads}, stream, step);
  });
}

}  // namespace thinwire::collective
