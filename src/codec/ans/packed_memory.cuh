// Four values of a lane from memory and to memory, stored or added; spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "codec/ans/packed.cuh"
#include "codec/cuda/any_alignment.cuh"

namespace thinwire::codec::ans {

// Whether groups of four values may be loaded and stored at once.
template <typename Word>
__device__ bool has_fours(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(Four<Word>) == 0;
}

// Four values from `at` on, of which `left` are there, more or fewer than four; others are 0.
template <typename Word>
__device__ Packed<Word> load_four(const std::byte* at, int left, bool fours) {
  Packed<Word> packed{};
  if (fours && left >= static_cast<int>(kOfLane)) {
    if constexpr (sizeof(Word) == 1) {
      packed.of[0] = *reinterpret_cast<const std::uint32_t*>(at);
    } else if constexpr (sizeof(Word) == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(at);
      packed.of[0] = two.x, packed.of[1] = two.y;
    } else {
#pragma unroll
      for (std::uint32_t unit = 0; unit < sizeof(Word) / 4; ++unit) {
        const uint4 four = reinterpret_cast<const uint4*>(at)[unit];
        packed.of[4 * unit] = four.x, packed.of[4 * unit + 1] = four.y;
        packed.of[4 * unit + 2] = four.z, packed.of[4 * unit + 3] = four.w;
      }
    }
    return packed;
  }
  Four<Word> values{};
#pragma unroll
  for (int each = 0; each < static_cast<int>(kOfLane); ++each) {
    if (each < left) values.of[each] = cuda::load_value<Word>(at + each * sizeof(Word));
  }
  return Packed<Word>::of_words(values);
}

// Four values to be stored, given those that are there, by a sink that adds.
template <typename Word, typename Sink>
__device__ Packed<Word> sums_of(const Sink& sink, const Packed<Word>& there,
                                const Packed<Word>& packed) {
  Packed<Word> sums;
  if constexpr (sizeof(Word) == 2) {
    const uint2 two = sink.sums(uint2{there.of[0], there.of[1]}, uint2{packed.of[0], packed.of[1]});
    sums.of[0] = two.x, sums.of[1] = two.y;
  } else {
#pragma unroll
    for (std::uint32_t at = 0; at < sizeof(Word); at += 4) {
      const uint4 four =
          sink.sums(uint4{there.of[at], there.of[at + 1], there.of[at + 2], there.of[at + 3]},
                    uint4{packed.of[at], packed.of[at + 1], packed.of[at + 2], packed.of[at + 3]});
      sums.of[at] = four.x, sums.of[at + 1] = four.y;
      sums.of[at + 2] = four.z, sums.of[at + 3] = four.w;
    }
  }
  return sums;
}

// Four values to memory that has_fours().
template <typename Word>
__device__ void put_four(std::byte* at, const Packed<Word>& packed) {
  if constexpr (sizeof(Word) == 1) {
    *reinterpret_cast<std::uint32_t*>(at) = packed.of[0];
  } else if constexpr (sizeof(Word) == 2) {
    *reinterpret_cast<uint2*>(at) = {packed.of[0], packed.of[1]};
  } else {
#pragma unroll
    for (std::uint32_t unit = 0; unit < sizeof(Word) / 4; ++unit) {
      reinterpret_cast<uint4*>(at)[unit] = {packed.of[4 * unit], packed.of[4 * unit + 1],
                                            packed.of[4 * unit + 2], packed.of[4 * unit + 3]};
    }
  }
}

template <typename Word, typename Sink>
__device__ void store_four(const Sink& sink, std::byte* at, const Packed<Word>& packed, int left,
                           bool fours) {
  if (fours && left >= static_cast<int>(kOfLane)) {
    if constexpr (Sink::kAdds) {
      const Packed<Word> there = load_four<Word>(at, kOfLane, true);
      return put_four(at, sums_of(sink, there, packed));
    } else {
      return put_four(at, packed);
    }
  }
#pragma unroll
  for (int each = 0; each < static_cast<int>(kOfLane); ++each) {
    if (each < left) sink.put(at + each * sizeof(Word), packed.get(each));
  }
}

}  // namespace thinwire::codec::ans
