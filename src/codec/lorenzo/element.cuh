// Values as registers hold them: of 32 and 64 bits one by one, of 16 bits in pairs.
#pragma once

#include <cstdint>

#include "codec/cuda/warp.cuh"
#include "codec/lorenzo/core.h"

namespace thinwire::codec::lorenzo {

using cuda::kAllLanes;

template <typename Word>
struct Element {
  using Type = Word;
  static constexpr int kValues = 1;

  __device__ static Type add(Type a, Type b) { return a + b; }
  __device__ static Type subtract(Type a, Type b) { return a - b; }
  __device__ static Type to_low(Type value) { return sign_to_low(value); }
  __device__ static Type to_high(Type value) { return sign_to_high(value); }

  // fold(), rotated right by one bit: the sign stays where it is. Undoes itself.
  __device__ static Type fold_high(Type residual) {
    using Signed = std::conditional_t<sizeof(Word) == 8, std::int64_t, std::int32_t>;
    const Type negative = static_cast<Type>(static_cast<Signed>(residual) >> (kWordBits<Word> - 1));
    return residual ^ (negative & static_cast<Type>(~Type{0} >> 1));
  }

  // The values one place before those of `own`, where `before` stands before it.
  __device__ static Type shifted(Type before, Type) { return before; }
};

template <>
struct Element<std::uint16_t> {
  using Type = std::uint32_t;
  static constexpr int kValues = 2;
  static constexpr Type kHigh = 0x80008000u;

  __device__ static Type add(Type a, Type b) {
    return ((a & ~kHigh) + (b & ~kHigh)) ^ ((a ^ b) & kHigh);
  }
  __device__ static Type subtract(Type a, Type b) {
    return ((a | kHigh) - (b & ~kHigh)) ^ ((a ^ ~b) & kHigh);
  }
  __device__ static Type to_low(Type value) {
    return (value << 1 & 0xfffefffeu) | (value >> 15 & 0x00010001u);
  }
  __device__ static Type to_high(Type value) {
    return (value >> 1 & ~kHigh) | (value << 15 & kHigh);
  }
  __device__ static Type fold_high(Type residual) {
    return residual ^ (residual >> 15 & 0x00010001u) * 0x7fffu;
  }
  __device__ static Type shifted(Type before, Type own) { return __funnelshift_l(before, own, 16); }
};

// Elements of a piece.
template <typename Word>
inline constexpr int kElements = kPieceValues<Word> / Element<Word>::kValues;

template <typename Word>
using Piece16 = typename Element<Word>::Type[kElements<Word>];

// The values of a thread's brick.
template <typename Word>
struct Brick {
  Piece16<Word> piece[kBrickPieces];
};

template <typename Word>
__device__ void unpack(const uint4& bits, Piece16<Word>& piece) {
  if constexpr (sizeof(Word) == 8) {
    piece[0] = static_cast<std::uint64_t>(bits.y) << 32 | bits.x;
    piece[1] = static_cast<std::uint64_t>(bits.w) << 32 | bits.z;
  } else {
    piece[0] = bits.x;
    piece[1] = bits.y;
    piece[2] = bits.z;
    piece[3] = bits.w;
  }
}

template <typename Word>
__device__ uint4 packed(const Piece16<Word>& piece) {
  if constexpr (sizeof(Word) == 8) {
    return {static_cast<unsigned>(piece[0]), static_cast<unsigned>(piece[0] >> 32),
            static_cast<unsigned>(piece[1]), static_cast<unsigned>(piece[1] >> 32)};
  } else {
    return {piece[0], piece[1], piece[2], piece[3]};
  }
}

}  // namespace thinwire::codec::lorenzo
