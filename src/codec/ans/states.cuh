// The 32 states of a chunk, one a lane of a warp; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/tables.cuh"

namespace thinwire::codec::ans {

// Of what encoding each byte takes, by its share. For whole warps, with a barrier of the warp at
// both ends.
__device__ inline void make_steps(const Share* shares, Step* steps) {
  __syncwarp();
  for (std::uint32_t byte = threadIdx.x % 32; byte < kBytes; byte += kLanes) {
    const Share share = shares[byte];
    const std::uint32_t frequency = frequency_in(share);
    steps[byte] = step_of(frequency == 0 ? 1 : frequency, frequency == 0 ? 0 : start_in(share));
  }
  __syncwarp();
}

// Bytes more frequent than this have their slots filled by all lanes.
inline constexpr std::uint32_t kOftenFrequency = 24;

// The byte of each remainder of a state, by shares. As above.
__device__ inline void make_slots(const Share* shares, std::uint8_t* bytes) {
  const std::uint32_t lane = threadIdx.x % 32;
  __syncwarp();
#pragma unroll 1
  for (std::uint32_t base = 0; base < kBytes; base += kLanes) {
    const Share own = shares[base + lane];
    const bool is_often = frequency_in(own) > kOftenFrequency;
    const std::uint32_t own_end = is_often ? 0 : start_in(own) + frequency_in(own);
    for (std::uint32_t at = start_in(own); at < own_end; ++at) {
      bytes[at] = static_cast<std::uint8_t>(base + lane);
    }
    unsigned often = __ballot_sync(kAllLanes, is_often);
    while (often != 0) {
      const std::uint32_t from = __ffs(static_cast<int>(often)) - 1;
      often &= often - 1;
      const Share share = __shfl_sync(kAllLanes, own, static_cast<int>(from));
      const std::uint32_t end = start_in(share) + frequency_in(share);
      for (std::uint32_t at = start_in(share) + lane; at < end; at += kLanes) {
        bytes[at] = static_cast<std::uint8_t>(base + from);
      }
    }
  }
  __syncwarp();
}

// Words on their way to the payload.
struct WordSink {
  std::uint16_t* words;
  std::uint32_t at;    // how many were given, also those that there was no room for
  std::uint32_t most;  // how many there is room for
};

// One step of lanes that are there; all lanes call.
__device__ inline void take_byte(std::uint32_t& state, const Step& step, bool is_there,
                                 WordSink& sink) {
  const bool gives = is_there && gives_word(state, step);
  const unsigned all = __ballot_sync(kAllLanes, gives);
  const unsigned below = (1u << threadIdx.x % 32) - 1;
  const std::uint32_t place = sink.at + __popc(all & below);
  if (gives && place < sink.most) sink.words[place] = static_cast<std::uint16_t>(state);
  const std::uint32_t before = gives ? state >> 16 : state;
  state = is_there ? taken(before, step) : state;
  sink.at += __popc(all);
}

// Takes the `count` bytes of a plane. For whole warps.
__device__ inline void take_plane(std::uint32_t& state, const std::uint8_t* plane,
                                  std::uint32_t count, const Step* steps, WordSink& sink) {
  constexpr std::uint32_t kAhead = 4;  // steps whose bytes are looked up before
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t first = 0;
#pragma unroll 1
  for (; first + kAhead * kLanes <= count; first += kAhead * kLanes) {
    Step step[kAhead];
#pragma unroll
    for (std::uint32_t at = 0; at < kAhead; ++at)
      step[at] = steps[plane[first + at * kLanes + lane]];
#pragma unroll
    for (std::uint32_t at = 0; at < kAhead; ++at) take_byte(state, step[at], true, sink);
  }
#pragma unroll 1
  for (; first < count; first += kLanes) {
    const bool is_there = first + lane < count;
    take_byte(state, steps[is_there ? plane[first + lane] : 0], is_there, sink);
  }
}

// Words on their way from the payload, the last one first. Before the first one there is memory.
struct WordSource {
  const std::uint16_t* words;
  int left;
  int least;  // that was ever left: below 0 where words ran out
};

// One step back of lanes that are there; all lanes call. Where words run out a state is anything.
__device__ inline void give_back_byte(std::uint32_t& state, std::uint8_t* byte, bool is_there,
                                      const Share* shares, const std::uint8_t* slots,
                                      WordSource& source) {
  const std::uint8_t own = slots[state % kScale];
  const Share share = shares[own];
  const std::uint32_t before = given_back(state, frequency_in(share), start_in(share));
  const bool needs = is_there && before < kLeastState;
  const unsigned all = __ballot_sync(kAllLanes, needs);
  const unsigned below = (1u << threadIdx.x % 32) - 1;
  source.left -= __popc(all);
  const int place = max(source.left + __popc(all & below), -1);
  const std::uint32_t with_word = before << 16 | source.words[place];
  if (is_there) {
    *byte = own;
    state = needs ? with_word : before;
  }
  source.least = min(source.least, source.left);
}

// Gives back the `count` bytes of a plane. For whole warps.
__device__ inline void give_back_plane(std::uint32_t& state, std::uint8_t* plane,
                                       std::uint32_t count, const Share* shares,
                                       const std::uint8_t* slots, WordSource& source) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t first = count / kLanes * kLanes;
  if (first != count) {
    const bool is_there = first + lane < count;
    give_back_byte(state, plane + first + lane, is_there, shares, slots, source);
  }
#pragma unroll 4
  while (first != 0) {
    first -= kLanes;
    give_back_byte(state, plane + first + lane, true, shares, slots, source);
  }
}

}  // namespace thinwire::codec::ans
