// The 32 states of a chunk of version 0, one a lane of a warp; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/lookups.cuh"

namespace thinwire::codec::ans::v0 {

inline constexpr std::uint32_t kGroup = 4;  // steps that are coded together
inline constexpr std::uint32_t kBytesOfGroup = kGroup * kLanes;

// Words on their way from the payload, the last one first.
struct WordSource {
  const std::uint16_t* words;
  int left;  // -1 if words ran out; before the first one there is memory for 33 more
};

// One step back of lanes that are there; all lanes call. If words run out a state is anything.
__device__ inline void give_back_byte(std::uint32_t& state, std::uint8_t* byte, bool is_there,
                                      const Slot* slots, WordSource& source) {
  const Slot slot = slots[state % kScale];
  const std::uint32_t before = (slot & 0xfff) * (state >> kScaleBits) + (slot >> 20);
  const bool needs = is_there && before < kLeastState;
  const unsigned all = __ballot_sync(kAllLanes, needs);
  const int place = source.left - __popc(all >> threadIdx.x % 32);
  const std::uint32_t with_word = before << 16 | source.words[place];
  if (is_there) {
    *byte = static_cast<std::uint8_t>(slot >> 12);
    state = needs ? with_word : before;
  }
  // The first lane's position is what is left after all lanes have taken their words. It is had by
  // a shuffle, whose latency the next step's lookup hides; counting `needs` again would hold up
  // this step.
  source.left = max(__shfl_sync(kAllLanes, place, 0), -1);
}

// Gives back the `count` bytes of a plane. For whole warps.
__device__ inline void give_back_plane(std::uint32_t& state, std::uint8_t* plane,
                                       std::uint32_t count, const Slot* slots, WordSource& source) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t first = count / kLanes * kLanes;
  if (first != count) {
    give_back_byte(state, plane + first + lane, first + lane < count, slots, source);
  }
#pragma unroll 1
  while (first % kBytesOfGroup != 0) {
    first -= kLanes;
    give_back_byte(state, plane + first + lane, true, slots, source);
  }
#pragma unroll 1
  while (first != 0) {
    first -= kBytesOfGroup;
#pragma unroll
    for (std::uint32_t at = kGroup; at-- > 0;) {
      give_back_byte(state, plane + first + at * kLanes + lane, true, slots, source);
    }
  }
}

}  // namespace thinwire::codec::ans::v0
