// A box's words in shared memory, 128 bytes of them to a thread, and their way from and to the
// array.
#pragma once

#include "codec/cuda/piece.cuh"
#include "codec/ndzip/core.h"

namespace thinwire::codec::ndzip {

inline constexpr std::uint32_t kThreadBytes = 128;

// Returns the offset of a byte in shared memory: 16 bytes are left free after each 128, so that
// threads that read theirs at the same time meet different banks.
__device__ inline std::uint32_t slot(std::uint32_t byte) { return byte + byte / kThreadBytes * 16; }

template <typename Word>
struct Staging {
  static constexpr int kThreads = kBoxValues * sizeof(Word) / kThreadBytes;
  static constexpr int kThreadWords = kThreadBytes / sizeof(Word);
  static constexpr int kUnits = kThreadBytes / 16;  // of 16 bytes, of a thread
  // The words, and zeros that stand for those outside of the box.
  static constexpr std::uint32_t kZerosAt = kThreads * (kThreadBytes + 16);
  static constexpr std::uint32_t kBytes = kZerosAt + kThreadBytes;

  std::byte* base;

  __device__ explicit Staging(std::uint64_t* memory) : base(reinterpret_cast<std::byte*>(memory)) {}

  __device__ Word& word(std::uint32_t number) const {
    return *reinterpret_cast<Word*>(base + slot(number * sizeof(Word)));
  }
  // The words of thread `number`.
  __device__ std::byte* part(std::uint32_t number) const {
    return base + number * (kThreadBytes + 16);
  }
  __device__ const std::byte* zeros() const { return base + kZerosAt; }
  __device__ void clear_zeros() const {
    if (threadIdx.x < kThreadBytes / 8) {
      *reinterpret_cast<std::uint64_t*>(base + kZerosAt + 8 * threadIdx.x) = 0;
    }
  }
};

// `kCount` words of which the first is at a multiple of 16 bytes.
template <typename Word, int kCount>
__device__ void load_words(const std::byte* at, Word (&words)[kCount]) {
  constexpr int kUnitWords = 16 / sizeof(Word);
#pragma unroll
  for (int unit = 0; unit < kCount / kUnitWords; ++unit) {
    const uint4 four = reinterpret_cast<const uint4*>(at)[unit];
    if constexpr (sizeof(Word) == 4) {
      words[4 * unit] = four.x;
      words[4 * unit + 1] = four.y;
      words[4 * unit + 2] = four.z;
      words[4 * unit + 3] = four.w;
    } else {
      words[2 * unit] = four.x | static_cast<Word>(four.y) << 32;
      words[2 * unit + 1] = four.z | static_cast<Word>(four.w) << 32;
    }
  }
}

template <typename Word, int kCount>
__device__ void store_words(std::byte* at, const Word (&words)[kCount]) {
  constexpr int kUnitWords = 16 / sizeof(Word);
#pragma unroll
  for (int unit = 0; unit < kCount / kUnitWords; ++unit) {
    uint4 four;
    if constexpr (sizeof(Word) == 4) {
      four = {words[4 * unit], words[4 * unit + 1], words[4 * unit + 2], words[4 * unit + 3]};
    } else {
      const Word low = words[2 * unit], high = words[2 * unit + 1];
      four = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
              static_cast<unsigned>(high), static_cast<unsigned>(high >> 32)};
    }
    reinterpret_cast<uint4*>(at)[unit] = four;
  }
}

// A whole box of kAxes axes: how far apart its units lie in the array.
template <typename Word, int kAxes>
struct WholeBox {
  static constexpr std::uint32_t kRowBytes = (kAxes == 1   ? 4096
                                              : kAxes == 2 ? 64
                                                           : 16) *
                                             sizeof(Word);

  std::uint64_t row;  // in bytes
  std::uint64_t plane;

  __device__ explicit WholeBox(const Box& box)
      : row(box.row * sizeof(Word)), plane(box.plane * sizeof(Word)) {}

  // Byte `number` of the box, from the box's first in the array.
  __device__ std::uint64_t distance(std::uint32_t number) const {
    if constexpr (kAxes == 1) return number;
    const std::uint32_t x = number % kRowBytes;
    if constexpr (kAxes == 2) return number / kRowBytes * row + x;
    return number / (16 * kRowBytes) * plane + number / kRowBytes % 16 * row + x;
  }

  // Whether the units of `kUnit` bytes are all aligned to their size.
  template <int kUnit>
  __device__ bool is_aligned(const void* at) const {
    const std::uint64_t strides = (kAxes > 1 ? row : 0) | (kAxes > 2 ? plane : 0);
    return (reinterpret_cast<std::uintptr_t>(at) | strides) % kUnit == 0;
  }
};

__device__ inline uint4 signs_to_low(uint4 unit, std::uint32_t) {
  return {sign_to_low(unit.x), sign_to_low(unit.y), sign_to_low(unit.z), sign_to_low(unit.w)};
}

__device__ inline uint4 signs_to_low(uint4 unit, std::uint64_t) {
  return {__funnelshift_l(unit.y, unit.x, 1), __funnelshift_l(unit.x, unit.y, 1),
          __funnelshift_l(unit.w, unit.z, 1), __funnelshift_l(unit.z, unit.w, 1)};
}

// The box's values, signs in their lowest bits. For whole thread blocks, without a barrier.
template <typename Word, int kAxes>
__device__ void load_whole(const Staging<Word>& staging, const cuda::Piece& piece) {
  using Stage = Staging<Word>;
  const WholeBox<Word, kAxes> box(piece.box);
  if (box.template is_aligned<16>(piece.at)) {
    // From one unit of a thread to its next it is whole rows, or planes.
    constexpr std::uint32_t kStep = 16 * Stage::kThreads;
    const std::byte* const first = piece.at + box.distance(16 * threadIdx.x);
    const std::uint64_t step = box.distance(kStep);
    std::byte* const out = staging.base + slot(16 * threadIdx.x);
    uint4 units[Stage::kUnits];
#pragma unroll
    for (int at = 0; at < Stage::kUnits; ++at) {
      units[at] = __ldg(reinterpret_cast<const uint4*>(first + at * step));
    }
#pragma unroll
    for (int at = 0; at < Stage::kUnits; ++at) {
      *reinterpret_cast<uint4*>(out + at * slot(kStep)) = signs_to_low(units[at], Word{});
    }
    return;
  }
#pragma unroll 4
  for (int at = 0; at < Stage::kThreadWords; ++at) {
    const std::uint32_t number = at * Stage::kThreads + threadIdx.x;
    staging.word(number) =
        sign_to_low(cuda::load_value<Word>(piece.at + box.distance(number * sizeof(Word))));
  }
}

// Loads a clipped box value by value, with zeros after the last.
template <typename Word>
__device__ void load_clipped(const Staging<Word>& staging, const cuda::Piece& piece) {
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x; number < kBoxValues; number += Staging<Word>::kThreads) {
    Word word = 0;
    if (number < piece.values) {
      word = sign_to_low(cuda::load_value<Word>(piece.template place<sizeof(Word)>(number)));
    }
    staging.word(number) = word;
  }
}

// The reverse of both.
template <typename Word, typename Sink>
__device__ void store_clipped(const Staging<Word>& staging, const cuda::Target& target,
                              const Sink& sink) {
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x; number < target.values;
       number += Staging<Word>::kThreads) {
    sink.put(target.template place<sizeof(Word)>(number), sign_to_high(staging.word(number)));
  }
}

}  // namespace thinwire::codec::ndzip
