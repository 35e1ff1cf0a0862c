// Numbers that states look up while they take bytes and give them back, by thread blocks;
// spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/pieces.h"
#include "codec/ans/tables.cuh"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kPieceThreads = 32 * kPieces;

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

// The encoder's numbers of each byte that is there of the planes in `mixed`, which take the memory
// of the shares. For whole thread blocks, all of whose shares are written; has a barrier.
template <std::uint32_t kPlanes>
__device__ void make_piece_steps(const Share (&shares)[kPlanes + 1][kBytes],
                                 const PlaneTable (&tables)[kPlanes], std::uint32_t mixed,
                                 PieceStep (&steps)[kPlanes][kBytes]) {
  constexpr std::uint32_t kOfThread = kBytes / kPieceThreads;
  Share own[kPlanes][kOfThread];
#pragma unroll
  for (std::uint32_t at = 0; at < kPlanes * kOfThread; ++at) {
    own[at / kOfThread][at % kOfThread] =
        shares[at / kOfThread][threadIdx.x + at % kOfThread * kPieceThreads];
  }
  __syncthreads();
#pragma unroll
  for (std::uint32_t at = 0; at < kPlanes * kOfThread; ++at) {
    const std::uint32_t plane = at / kOfThread;
    const std::uint32_t byte = threadIdx.x + at % kOfThread * kPieceThreads;
    const Share share = own[plane][at % kOfThread];
    if ((mixed >> plane & 1) == 0 || frequency_in(share) == 0) continue;
    steps[plane][byte] = piece_step_of(share, byte == tables[plane].rest);
  }
}

// The decoder's word for a remainder of a state: the frequency of its byte, the byte << 12, and the
// remainder less the byte's start, << 20. In a plane with two different bytes or more every
// frequency is below kScale.
using Slot = std::uint32_t;

__device__ inline Slot slot_of(std::uint32_t byte, std::uint32_t frequency, std::uint32_t place) {
  return frequency | byte << 12 | place << 20;
}

// Bytes more frequent than this have their slots filled by all lanes.
inline constexpr std::uint32_t kOftenFrequency = 16;

// Calls put(slot, byte, frequency, place) for those slots that the own lane has to fill: `place` is
// the slot's among those of its byte. For thread blocks of so many warps.
template <std::uint32_t kWarps, typename Put>
__device__ void for_each_slot(const Start* starts, Put&& put) {
  // Bytes that follow each other, as frequent ones often do, are those of warps in turn.
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (std::uint32_t base = 0; base < kBytes; base += 32 * kWarps) {
    const std::uint32_t byte = base + lane * kWarps + warp;
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
        put(its_start + at, base + static_cast<std::uint32_t>(from) * kWarps + warp, its_frequency,
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
    for_each_slot<kPieces>(
        starts, [&](std::uint32_t slot, std::uint32_t byte, std::uint32_t frequency,
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
    for_each_slot<kPieces>(starts, [&](std::uint32_t slot, std::uint32_t byte,
                                       std::uint32_t frequency, std::uint32_t place) {
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

// The same for the quads of a mask, whose starts lanes have; all lanes call.
class QuadSlots {
 public:
  __device__ explicit QuadSlots(std::uint32_t start) : start_(start) {}

  __device__ std::uint32_t back(std::uint32_t state, std::uint32_t& quad) const {
    const std::uint32_t remainder = state % kScale;
    quad = 0;
#pragma unroll
    for (std::uint32_t bit = kQuads / 2; bit != 0; bit /= 2) {
      if (remainder >= start_of(quad | bit)) quad |= bit;
    }
    const std::uint32_t start = start_of(quad);
    return (start_of(quad + 1) - start) * (state >> kScaleBits) + remainder - start;
  }

 private:
  __device__ std::uint32_t start_of(std::uint32_t quad) const {
    return __shfl_sync(kAllLanes, start_, static_cast<int>(quad));
  }

  std::uint32_t start_;
};

}  // namespace thinwire::codec::ans
