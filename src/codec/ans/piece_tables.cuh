// Tables of the planes of a chunk in pieces: a plane's by one warp, what states look up by a thread
// block; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/pieces.h"
#include "codec/ans/states.cuh"
#include "codec/ans/tables.cuh"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kPieceThreads = 32 * kPieces;

// code_of() without a division of whole numbers; `part` is 1 / all, and `all` at most
// kCutChunkBytes.
__device__ inline std::uint32_t code_by(std::uint32_t count, std::uint32_t all, float part) {
  const auto number = static_cast<std::int32_t>(kScale * count + all / 2);
  auto quotient = static_cast<std::int32_t>(static_cast<float>(number) * part);  // at most 1 off
  const std::int32_t left = number - quotient * static_cast<std::int32_t>(all);
  quotient += (left >= static_cast<std::int32_t>(all)) - (left < 0);
  return nearest_code(static_cast<std::uint32_t>(max(quotient, 1)));
}

// Counts of a plane's `all` bytes become shares in their place. For whole warps.
__device__ inline PlaneTable make_table(std::uint32_t* counts, std::uint32_t all) {
  const std::uint32_t first = threadIdx.x % 32 * kLaneBytes;
  std::uint32_t* const own = counts + first;
  std::uint32_t count[kLaneBytes], frequency[kLaneBytes];
  std::uint32_t most = 0, lowest = kBytes, highest = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    count[at] = own[at];
    most = max(most, count[at] << 8 | (kBytes - 1 - first - at));
    if (count[at] == 0) continue;
    lowest = min(lowest, first + at);
    highest = first + at;
  }
  most = cuda::most_of_lanes(most);
  PlaneTable table{};
  table.is_sound = true;
  table.rest = kBytes - 1 - (most & 0xff);
  table.first = cuda::least_of_lanes(lowest) / 4;
  table.groups = cuda::most_of_lanes(highest) / 4 - table.first + 1;
  if (all == 0) return table;
  const float part = 1 / static_cast<float>(all);
  std::uint32_t sum = 0, cost = 0;
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    const bool is_other = count[at] != 0 && first + at != table.rest;
    frequency[at] = is_other ? frequency_of(code_by(count[at], all, part)) : 0;
    cost += is_other ? count[at] * cost_of(frequency[at]) : 0;
    sum += frequency[at];
  }
  const std::uint32_t others = cuda::sum_of_lanes(sum);
  cost = cuda::sum_of_lanes(cost);
  if (others >= kScale) return table;
  const std::uint32_t rest = kScale - others;
  cost += (most >> 8) * cost_of(rest);
  table.is_coded = pays(cost, table.groups, all);
  table.is_mixed = table.is_coded && others > 0;
  std::uint32_t start = cuda::sum_up_to_lane(sum) - sum + (first > table.rest ? rest : 0);
#pragma unroll
  for (std::uint32_t at = 0; at < kLaneBytes; ++at) {
    if (first + at == table.rest) frequency[at] = rest;
    own[at] = frequency[at] | start << 16;
    start += frequency[at];
  }
  return table;
}

// Numbers by which a state takes a byte: the Step of frequencies.h for a GPU, which picks numbers
// out of words with few instructions.
struct PieceStep {
  std::uint32_t factor;
  std::uint32_t packed;  // kScale - frequency, shift << 12, start << 17

  __device__ std::uint32_t others() const { return packed & (kScale - 1); }
  __device__ std::uint32_t shift() const { return packed >> 12 & 31; }
  __device__ std::uint32_t start() const { return packed >> 17; }
  // As gives_word(): the highest bit of this sum.
  __device__ bool gives(std::uint32_t state) const {
    return static_cast<std::int32_t>(state + (packed << 20)) < 0;
  }
};

// The step of a frequency that is not the rest: its factor is one of few.
__device__ inline PieceStep piece_step_of(Share share, bool is_rest) {
  const std::uint32_t frequency = frequency_in(share), start = start_in(share);
  if (is_rest || frequency < 4) {
    const Step step = step_of(frequency, start);
    return {step.factor, (kScale - frequency) | step.shift() << 12 | step.start() << 17};
  }
  const std::uint32_t log = floor_log2(frequency), quarter = frequency >> (log - 2);
  const std::uint32_t factor = quarter == 4   ? 0x80000000u
                               : quarter == 5 ? 0xcccccccdu
                               : quarter == 6 ? 0xaaaaaaabu
                                              : 0x92492493u;
  const std::uint32_t shift = quarter == 4 ? log - 1 : log;
  return {factor, (kScale - frequency) | shift << 12 | start << 17};
}

// The encoder's numbers of each byte of a plane that is there. For whole thread blocks.
__device__ inline void make_piece_steps(const Share* shares, std::uint32_t rest, PieceStep* steps) {
#pragma unroll
  for (std::uint32_t byte = threadIdx.x; byte < kBytes; byte += kPieceThreads) {
    const Share share = shares[byte];
    if (frequency_in(share) != 0) steps[byte] = piece_step_of(share, byte == rest);
  }
}

// Calls put(first, slots, byte, frequency): `slots` is what the own lane has to fill, from `first`
// on, `step` apart. For whole thread blocks.
template <typename Put>
__device__ void for_each_slot(const Start* starts, Put&& put) {
  // Bytes that follow each other, as frequent ones often do, are those of warps in turn.
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (std::uint32_t base = 0; base < kBytes; base += kPieceThreads) {
    const std::uint32_t byte = base + lane * kPieces + warp;
    const std::uint32_t start = starts[byte];
    const std::uint32_t frequency = (byte + 1 < kBytes ? starts[byte + 1] : kScale) - start;
    const bool is_often = frequency > kOftenFrequency;
    const std::uint32_t own_slots = is_often ? 0 : frequency;
    for (std::uint32_t at = 0; at < own_slots; ++at) put(start + at, byte, frequency, at);
    unsigned often = __ballot_sync(kAllLanes, is_often);
    while (often != 0) {
      const int from = __ffs(static_cast<int>(often)) - 1;
      often &= often - 1;
      const std::uint32_t its_start = __shfl_sync(kAllLanes, start, from);
      const std::uint32_t its_frequency = __shfl_sync(kAllLanes, frequency, from);
      for (std::uint32_t at = lane; at < its_frequency; at += kLanes) {
        put(its_start + at, base + static_cast<std::uint32_t>(from) * kPieces + warp, its_frequency,
            at);
      }
    }
  }
}

// Numbers that a decoder looks up, in two forms: a word for each remainder of a state, or a byte
// for each remainder and a word for each byte, which is slower and takes less memory.
inline constexpr std::uint32_t kFullSlotsBytes = kScale * sizeof(Slot);
inline constexpr std::uint32_t kSmallSlotsBytes = kScale + kBytes * sizeof(Share);

template <bool kFull>
class SlotsOf;

template <>
class SlotsOf<true> {
 public:
  static constexpr std::uint32_t kEach = kFullSlotsBytes;

  __device__ explicit SlotsOf(const std::uint8_t* memory)
      : slots_(reinterpret_cast<const Slot*>(memory)) {}

  __device__ static void make(const Start* starts, std::uint8_t* memory) {
    auto* const slots = reinterpret_cast<Slot*>(memory);
    for_each_slot(starts,
                  [&](std::uint32_t slot, std::uint32_t byte, std::uint32_t frequency,
                      std::uint32_t place) { slots[slot] = slot_of(byte, frequency, place); });
  }

  // The state before it took its byte, words aside.
  __device__ std::uint32_t back(std::uint32_t state, std::uint32_t& byte) const {
    const Slot slot = slots_[state % kScale];
    byte = slot >> 12;
    return (slot & 0xfff) * (state >> kScaleBits) + (slot >> 20);
  }

 private:
  const Slot* slots_;
};

template <>
class SlotsOf<false> {
 public:
  static constexpr std::uint32_t kEach = kSmallSlotsBytes;

  __device__ explicit SlotsOf(const std::uint8_t* memory)
      : bytes_(memory), shares_(reinterpret_cast<const Share*>(memory + kScale)) {}

  __device__ static void make(const Start* starts, std::uint8_t* memory) {
    auto* const shares = reinterpret_cast<Share*>(memory + kScale);
    for_each_slot(starts, [&](std::uint32_t slot, std::uint32_t byte, std::uint32_t frequency,
                              std::uint32_t place) {
      memory[slot] = static_cast<std::uint8_t>(byte);
      if (place == 0) shares[byte] = frequency | slot << 16;
    });
  }

  __device__ std::uint32_t back(std::uint32_t state, std::uint32_t& byte) const {
    const std::uint32_t remainder = state % kScale;
    byte = bytes_[remainder];
    const Share share = shares_[byte];
    return frequency_in(share) * (state >> kScaleBits) + remainder - start_in(share);
  }

 private:
  const std::uint8_t* bytes_;
  const Share* shares_;
};

}  // namespace thinwire::codec::ans
