// A thread's brick as bit planes, and where they stand in the payload.
#pragma once

#include "codec/lorenzo/element.cuh"

namespace thinwire::codec::lorenzo {

using Matrix = std::uint32_t[kBrickWords];

// ---- The 32 x 32 bits of a brick ----

template <typename Word>
__device__ void to_matrix(const Brick<Word>& brick, Matrix& matrix) {
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const uint4 bits = packed<Word>(brick.piece[piece]);
    matrix[matrix_row<Word>(piece, 0)] = bits.x;
    matrix[matrix_row<Word>(piece, 1)] = bits.y;
    matrix[matrix_row<Word>(piece, 2)] = bits.z;
    matrix[matrix_row<Word>(piece, 3)] = bits.w;
  }
}

template <typename Word>
__device__ void from_matrix(const Matrix& matrix, Brick<Word>& brick) {
#pragma unroll
  for (int piece = 0; piece < kBrickPieces; ++piece) {
    const uint4 bits{matrix[matrix_row<Word>(piece, 0)], matrix[matrix_row<Word>(piece, 1)],
                     matrix[matrix_row<Word>(piece, 2)], matrix[matrix_row<Word>(piece, 3)]};
    unpack<Word>(bits, brick.piece[piece]);
  }
}

// The bits of `ones` where the mask has ones, else those of `zeros`: one instruction, of which the
// compiler makes two if it is told so in C++.
__device__ inline std::uint32_t select_bits(std::uint32_t mask, std::uint32_t ones,
                                            std::uint32_t zeros) {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  std::uint32_t bits;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(bits) : "r"(mask), "r"(ones), "r"(zeros));
  return bits;
#else
  return (mask & ones) | (~mask & zeros);
#endif
}

template <int kWidth>
__device__ void exchange_bits(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t a = low, b = high;
  if constexpr (kWidth == 16) {
    low = __byte_perm(a, b, 0x5410);
    high = __byte_perm(a, b, 0x7632);
  } else if constexpr (kWidth == 8) {
    low = __byte_perm(a, b, 0x6240);
    high = __byte_perm(a, b, 0x7351);
  } else {
    constexpr std::uint32_t kLow = 0xffffffffu / ((1u << kWidth) + 1);
    low = select_bits(kLow, a, b << kWidth);
    high = select_bits(kLow, a >> kWidth, b);
  }
}

template <int kWidth>
__device__ void exchange_all(Matrix& matrix) {
#pragma unroll
  for (int row = 0; row < kBrickWords; ++row) {
    if ((row & kWidth) == 0) exchange_bits<kWidth>(matrix[row], matrix[row + kWidth]);
  }
}

// Bit i of row r and bit r of row i change places.
__device__ inline void transpose(Matrix& matrix) {
  exchange_all<16>(matrix);
  exchange_all<8>(matrix);
  exchange_all<4>(matrix);
  exchange_all<2>(matrix);
  exchange_all<1>(matrix);
}

// A residual's sign stands in its highest bit here, and is plane 0 of the format. So the matrix has
// plane p of the format in row p - 1, and the planes of the sign in the last rows.
template <typename Word>
__device__ std::uint32_t plane(const Matrix& matrix, int number) {
  if constexpr (sizeof(Word) == 2) {
    return matrix[number % 16 == 0 ? number + 15 : number - 1];
  } else {
    if (number > 0) return matrix[number - 1];
    // The sign is plane 0 of A and the highest of the 32 low bits plane 0 of B.
    return sizeof(Word) == 8 ? __byte_perm(matrix[31], 0, 0x1032) : matrix[31];
  }
}

template <typename Word>
__device__ void set_plane(Matrix& matrix, int number, std::uint32_t bits) {
  if constexpr (sizeof(Word) == 2) {
    matrix[number % 16 == 0 ? number + 15 : number - 1] = bits;
  } else if (number > 0) {
    matrix[number - 1] = bits;
  } else {
    matrix[31] = sizeof(Word) == 8 ? __byte_perm(bits, 0, 0x1032) : bits;
  }
}

// ---- Widths ----

inline constexpr unsigned kPackedBits = 2 * kWidthBits;

// Planes of the two halves of a brick.
struct Width {
  std::uint32_t a, b;

  __device__ std::uint16_t packed() const {
    return static_cast<std::uint16_t>(a | b << kWidthBits);
  }

  // Together in one number, whose sums over a chunk do not run over: joint planes in the low half
  // of it, single ones in the high half.
  template <typename Word>
  __device__ std::uint32_t planes() const {
    if constexpr (sizeof(Word) == 2) return a + b;
    return min(a, b) | (max(a, b) - min(a, b)) << 16;
  }
};

__device__ inline std::uint32_t bits_of_width(std::uint32_t bits) { return 32 - __clz(bits); }

// The width of a brick that has not been transposed.
template <typename Word>
__device__ Width width_of(const Matrix& matrix) {
  std::uint32_t first = 0, second = 0;
#pragma unroll
  for (int row = 0; row < 16; ++row) {
    first |= matrix[row];
    second |= matrix[row + 16];
  }
  if constexpr (sizeof(Word) == 8) {
    return {bits_of_width(__funnelshift_l(second, first, 1)),
            bits_of_width(__funnelshift_l(first, second, 1))};
  } else if constexpr (sizeof(Word) == 4) {
    return {bits_of_width(__funnelshift_l(first, first, 1)),
            bits_of_width(__funnelshift_l(second, second, 1))};
  } else {
    const std::uint32_t all = Element<Word>::to_low(first | second);
    return {bits_of_width(all & 0xffffu), bits_of_width(all >> 16)};
  }
}

// Word `number` of the widths of so many bricks.
__device__ inline std::uint32_t word_of_widths(const std::uint16_t* widths, unsigned number,
                                               unsigned bricks) {
  const unsigned first = 32 * number / kPackedBits;
  const int skipped = static_cast<int>(32 * number - first * kPackedBits);
  std::uint32_t word = widths[first] >> skipped;
#pragma unroll
  for (int next = 1; next < 4; ++next) {
    const std::uint32_t width = first + next < bricks ? widths[first + next] : 0u;
    const int up = next * kPackedBits - skipped;
    if (up < 32) word |= width << up;
  }
  return word;
}

__device__ inline Width load_width(const std::uint32_t* words, unsigned brick) {
  const unsigned bit = brick * kPackedBits;
  const std::uint32_t both = __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
  return {both & ((1u << kWidthBits) - 1), both >> kWidthBits & ((1u << kWidthBits) - 1)};
}

// ---- Planes in the payload ----

// Planes at once: a warp asks whether all or none of its lanes have them.
inline constexpr int kPlaneRun = 4;

// `joint` and `single` are where the thread's own planes begin.
template <typename Word>
__device__ void store_planes(const Matrix& matrix, Width width, std::byte* joint,
                             std::byte* single) {
  auto* const words = reinterpret_cast<std::uint32_t*>(joint);
  if constexpr (sizeof(Word) == 2) {
#pragma unroll
    for (int number = 0; number < 16; ++number) {
      if (number < width.a) words[number] = plane<Word>(matrix, number);
      if (number < width.b) words[width.a + number] = plane<Word>(matrix, 16 + number);
    }
    return;
  }
  const std::uint32_t both = min(width.a, width.b), either = max(width.a, width.b);
  const std::uint32_t all = cuda::least_of_lanes(both);
  const std::uint32_t any = cuda::most_of_lanes(either);
  const int shift = width.a > width.b ? 0 : 16;
  auto* const halves = reinterpret_cast<std::uint16_t*>(single) - both;
#pragma unroll
  for (int first = 0; first < kBrickWords; first += kPlaneRun) {
    if (first + kPlaneRun <= all) {
#pragma unroll
      for (int number = first; number < first + kPlaneRun; ++number) {
        words[number] = plane<Word>(matrix, number);
      }
    } else if (first < any) {
#pragma unroll
      for (int number = first; number < first + kPlaneRun; ++number) {
        const std::uint32_t bits = plane<Word>(matrix, number);
        if (number < both) words[number] = bits;
        if (number >= both && number < either) {
          halves[number] = static_cast<std::uint16_t>(bits >> shift);
        }
      }
    }
  }
}

template <typename Word>
__device__ void load_planes(const std::byte* joint, const std::byte* single, Width width,
                            Matrix& matrix) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(joint);
  if constexpr (sizeof(Word) == 2) {
#pragma unroll
    for (int number = 0; number < 16; ++number) {
      set_plane<Word>(matrix, number, number < width.a ? words[number] : 0);
      set_plane<Word>(matrix, 16 + number, number < width.b ? words[width.a + number] : 0);
    }
    return;
  }
  const std::uint32_t both = min(width.a, width.b), either = max(width.a, width.b);
  const std::uint32_t all = cuda::least_of_lanes(both);
  const std::uint32_t any = cuda::most_of_lanes(either);
  const int shift = width.a > width.b ? 0 : 16;
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(single) - both;
#pragma unroll
  for (int first = 0; first < kBrickWords; first += kPlaneRun) {
    if (first + kPlaneRun <= all) {
#pragma unroll
      for (int number = first; number < first + kPlaneRun; ++number) {
        set_plane<Word>(matrix, number, words[number]);
      }
    } else if (first >= any) {
#pragma unroll
      for (int number = first; number < first + kPlaneRun; ++number) {
        set_plane<Word>(matrix, number, 0);
      }
    } else {
#pragma unroll
      for (int number = first; number < first + kPlaneRun; ++number) {
        std::uint32_t bits = 0, half = 0;
        if (number < both) bits = words[number];
        if (number >= both && number < either) half = halves[number];
        set_plane<Word>(matrix, number, bits | half << shift);
      }
    }
  }
}

}  // namespace thinwire::codec::lorenzo
