// Copying a payload between places at any alignment, and its checksum on the way.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/resident.h"

namespace thinwire::codec::nvcomp {

inline constexpr int kThreads = 256;
inline constexpr int kResident = 5;  // thread blocks of the kernels around this

// Words of 8 bytes where both sides lie at multiples of sizeof(Unit).
template <typename Unit>
__device__ std::uint64_t load_as(const std::byte* at) {
  std::uint64_t word = 0;
  const auto* const units = reinterpret_cast<const Unit*>(at);
#pragma unroll
  for (unsigned unit = 0; unit < 8 / sizeof(Unit); ++unit) {
    word |= static_cast<std::uint64_t>(units[unit]) << (8 * sizeof(Unit) * unit);
  }
  return word;
}

template <typename Unit>
__device__ void store_as(std::byte* at, std::uint64_t word) {
  auto* const units = reinterpret_cast<Unit*>(at);
#pragma unroll
  for (unsigned unit = 0; unit < 8 / sizeof(Unit); ++unit) {
    units[unit] = static_cast<Unit>(word >> (8 * sizeof(Unit) * unit));
  }
}

// Takes words from the payload's end to its start.
using Sum = cuda::LaneSum<kThreads>;

// Whole words, one for each thread in every round; the loads of several rounds are under way at
// once.
template <typename Unit, bool kCopies>
__device__ void take_rounds(const std::byte* from, std::byte* to, int rounds, Sum& sum) {
  // Words that are put together from bytes take registers enough one at a time.
  constexpr int kBatch = sizeof(Unit);
  constexpr std::uint32_t kRoundBytes = 8 * kThreads;
  from += 8 * threadIdx.x;
  to += kCopies ? 8 * threadIdx.x : 0;
  for (; rounds >= kBatch; rounds -= kBatch) {
    std::uint64_t words[kBatch];
#pragma unroll
    for (int at = 0; at < kBatch; ++at) {
      words[at] = load_as<Unit>(from + (rounds - 1 - at) * kRoundBytes);
    }
#pragma unroll
    for (int at = 0; at < kBatch; ++at) {
      sum.take(words[at]);
      if (kCopies) store_as<Unit>(to + (rounds - 1 - at) * kRoundBytes, words[at]);
    }
  }
  for (int round = rounds - 1; round >= 0; --round) {
    const std::uint64_t word = load_as<Unit>(from + round * kRoundBytes);
    sum.take(word);
    if (kCopies) store_as<Unit>(to + round * kRoundBytes, word);
  }
}

template <typename Unit>
__device__ void take_rounds(const std::byte* from, std::byte* to, int rounds, Sum& sum) {
  if (to == nullptr) {
    take_rounds<Unit, false>(from, to, rounds, sum);
  } else {
    take_rounds<Unit, true>(from, to, rounds, sum);
  }
}

// The word at `at`, which may reach past the `bytes` that there are, or the `padded` that there
// will be.
__device__ inline void take_last(const std::byte* from, std::byte* to, std::uint32_t at,
                                 std::uint32_t bytes, std::uint32_t padded, Sum& sum) {
  if (at + 8 <= bytes) {
    const std::uint64_t word = cuda::load_word(from + at);
    sum.take(word);
    if (to != nullptr) cuda::store_word(to + at, word);
    return;
  }
  const std::uint32_t end = at + 8 < padded ? at + 8 : padded;
  std::uint64_t word = 0;
  for (std::uint32_t byte = at; byte < end && byte < bytes; ++byte) {
    word |= static_cast<std::uint64_t>(from[byte]) << (8 * (byte - at));
  }
  sum.take(word);
  if (to == nullptr) return;
  for (std::uint32_t byte = at; byte < end; ++byte) {
    to[byte] = static_cast<std::byte>(word >> (8 * (byte - at)));
  }
}

// Reads `bytes` bytes at `from` and takes those after them, up to `padded`, to be 0. Writes all to
// `to`, unless that is null. Returns the thread's part of the payload's checksum. For whole thread
// blocks of kThreads, without a barrier.
__device__ inline std::uint64_t copy_and_sum(const std::byte* from, std::byte* to,
                                             std::uint32_t bytes, std::uint32_t padded) {
  Sum sum(threadIdx.x);
  const auto rounds = static_cast<int>(bytes / (8 * kThreads));
  // There are at most two more rounds: `padded` is less than a round longer than `bytes`.
  const auto words = static_cast<int>((padded + 7) / 8);
  for (int round = (words - 1) / kThreads; round >= rounds; --round) {
    const int word = round * kThreads + static_cast<int>(threadIdx.x);
    if (word < words) {
      take_last(from, to, 8 * static_cast<std::uint32_t>(word), bytes, padded, sum);
    }
  }
  const auto both = reinterpret_cast<std::uintptr_t>(from) |
                    (to == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(to));
  if (both % 8 == 0) {
    take_rounds<std::uint64_t>(from, to, rounds, sum);
  } else if (both % 4 == 0) {
    take_rounds<std::uint32_t>(from, to, rounds, sum);
  } else {
    take_rounds<std::uint8_t>(from, to, rounds, sum);
  }
  return sum.sum();
}

}  // namespace thinwire::codec::nvcomp
