// The 32 states of a chunk, one a lane of a warp; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/tables.cuh"

namespace thinwire::codec::ans {

// Computes the encoder's numbers of each byte from its share. For whole thread blocks, a byte a
// thread.
__device__ inline void make_steps(const Share* shares, Step* steps) {
  const Share share = shares[threadIdx.x];
  const std::uint32_t frequency = frequency_in(share);
  steps[threadIdx.x] =
      step_of(frequency == 0 ? 1 : frequency, frequency == 0 ? 0 : start_in(share));
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

// The slots of all remainders, by starts. For whole thread blocks, a byte a thread.
__device__ inline void make_slots(const Start* starts, Slot* slots) {
  const std::uint32_t byte = threadIdx.x, lane = byte % 32;
  const std::uint32_t start = starts[byte];
  const std::uint32_t frequency = (byte + 1 < kBytes ? starts[byte + 1] : kScale) - start;
  const bool is_often = frequency > kOftenFrequency;
  const std::uint32_t own_slots = is_often ? 0 : frequency;
  for (std::uint32_t at = 0; at < own_slots; ++at) {
    slots[start + at] = slot_of(byte, frequency, at);
  }
  unsigned often = __ballot_sync(kAllLanes, is_often);
  while (often != 0) {
    const int from = __ffs(static_cast<int>(often)) - 1;
    often &= often - 1;
    const std::uint32_t its_start = __shfl_sync(kAllLanes, start, from);
    const std::uint32_t its_frequency = __shfl_sync(kAllLanes, frequency, from);
    for (std::uint32_t at = lane; at < its_frequency; at += kLanes) {
      slots[its_start + at] = slot_of(byte - lane + from, its_frequency, at);
    }
  }
}

// Words on their way to the payload, by their places in it.
struct WordSink {
  std::uint16_t* payload;
  std::uint32_t next;
  std::uint32_t end;  // of the room for them; if that was too small, `next` is past it
};

// The lanes that write a word in a step, and this lane's state, whose low half is its word.
struct Given {
  std::uint32_t state = 0;
  unsigned lanes = 0;
};

// One step of lanes that are there; all lanes call.
__device__ inline Given take_byte(std::uint32_t& state, const Step& step, bool is_there) {
  const bool gives = is_there && gives_word(state, step);
  const Given given{state, __ballot_sync(kAllLanes, gives)};
  const std::uint32_t next = taken(gives ? state >> 16 : state, step);
  state = is_there ? next : state;
  return given;
}

// `kFits` if there is room for a word of every lane.
template <bool kFits>
__device__ void put_words(const Given& given, WordSink& sink) {
  const unsigned own = 1u << threadIdx.x % 32;
  const std::uint32_t place = sink.next + __popc(given.lanes & (own - 1));
  if ((given.lanes & own) != 0 && (kFits || place < sink.end)) {
    sink.payload[place] = static_cast<std::uint16_t>(given.state);
  }
  sink.next += __popc(given.lanes);
}

inline constexpr std::uint32_t kGroup = 4;  // steps that are coded together
inline constexpr std::uint32_t kBytesOfGroup = kGroup * kLanes;

// Takes the groups of a plane that there is certainly room for; how many bytes they are. What steps
// take is loaded while those of the group before are done, their bytes another group sooner, and
// words are written a group later: so only the states wait for each other.
__device__ inline std::uint32_t take_groups(std::uint32_t& state, const std::uint8_t* plane,
                                            std::uint32_t count, const Step* steps,
                                            WordSink& sink) {
  const std::uint32_t whole = count / kBytesOfGroup * kBytesOfGroup;
  if (whole == 0) return 0;
  const std::uint8_t* const own = plane + threadIdx.x % 32;
  const std::uint32_t last = whole - kBytesOfGroup;
  std::uint32_t byte[kGroup];
  Step next[kGroup];
  Given given[kGroup];
  std::uint32_t ahead = min(kBytesOfGroup, last);
#pragma unroll
  for (std::uint32_t at = 0; at < kGroup; ++at) {
    next[at] = steps[own[at * kLanes]];
    byte[at] = own[ahead + at * kLanes];
  }
  std::uint32_t first = 0;
  // Room for what is about to be written, and for what is about to be taken.
#pragma unroll 1
  for (; first < whole && sink.next + 2 * kBytesOfGroup <= sink.end; first += kBytesOfGroup) {
    Step step[kGroup];
    ahead = min(ahead + kBytesOfGroup, last);
#pragma unroll
    for (std::uint32_t at = 0; at < kGroup; ++at) {
      step[at] = next[at];
      next[at] = steps[byte[at]];
      byte[at] = own[ahead + at * kLanes];
    }
#pragma unroll
    for (std::uint32_t at = 0; at < kGroup; ++at) {
      put_words<true>(given[at], sink);
      given[at] = take_byte(state, step[at], true);
    }
  }
#pragma unroll
  for (std::uint32_t at = 0; at < kGroup; ++at) put_words<true>(given[at], sink);
  return first;
}

// Takes the `count` bytes of a plane, or some if there is no room. For whole warps.
__device__ inline void take_plane(std::uint32_t& state, const std::uint8_t* plane,
                                  std::uint32_t count, const Step* steps, WordSink& sink) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t first = take_groups(state, plane, count, steps, sink);
#pragma unroll 1
  for (; first < count && sink.next <= sink.end; first += kLanes) {
    const bool is_there = first + lane < count;
    put_words<false>(take_byte(state, steps[is_there ? plane[first + lane] : 0], is_there), sink);
  }
}

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

}  // namespace thinwire::codec::ans
