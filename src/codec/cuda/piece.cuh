// One chunk's values in the array, for the thread block that codes it.
#pragma once

#include "codec/cuda/any_alignment.cuh"
#include "codec/cuda/copy.cuh"
#include "codec/cuda/sink.cuh"
#include "codec/layout.h"

namespace thinwire::codec::cuda {

template <typename Bytes>
struct PieceOf {
  Bytes* at;  // the first value
  Box box;
  std::uint32_t values;
  std::uint32_t bytes;

  // The place of a value, by its number in the box.
  template <int kValueBytes>
  __device__ Bytes* place(std::uint32_t number) const {
    const std::uint32_t row = number / box.x;
    const std::uint32_t z = row / box.y;
    const std::uint64_t distance =
        z * box.plane + (row - z * box.y) * box.row + number - row * box.x;
    return at + distance * kValueBytes;
  }
};

using Piece = PieceOf<const std::byte>;
using Target = PieceOf<std::byte>;

// `kValueBytes` is the size of the layout's dtype.
template <std::uint32_t kValueBytes, typename Bytes>
__device__ PieceOf<Bytes> piece_of(const Layout& layout, std::uint64_t index, Bytes* array) {
  PieceOf<Bytes> piece;
  piece.box = layout.box(index);
  piece.at = array + piece.box.offset * kValueBytes;
  piece.values = piece.box.count();
  piece.bytes = piece.values * kValueBytes;
  return piece;
}

// The pieces of 16 bytes that the rows of a box are made of, where they are and lie at multiples of
// 16: `visit(offset in the box, offset from its first value)`, in bytes, by all threads.
template <typename Visit>
__device__ bool for_each_unit(const Box& box, std::uint32_t value_bytes, const std::byte* at,
                              Visit&& visit) {
  const std::uint64_t row = box.row * value_bytes, plane = box.plane * value_bytes;
  const std::uint32_t row_bytes = box.x * value_bytes;
  if ((reinterpret_cast<std::uintptr_t>(at) | row | plane | row_bytes) % 16 != 0) return false;
  const std::uint32_t row_units = row_bytes / 16;
  const std::uint32_t units = row_units * box.y * box.z;
  for (std::uint32_t unit = threadIdx.x; unit < units; unit += blockDim.x) {
    const std::uint32_t number = unit / row_units;
    const std::uint32_t z = number / box.y;
    visit(16 * unit, z * plane + (number - z * box.y) * row + 16 * (unit - number * row_units));
  }
  return true;
}

// Copy the values of a piece to `values`, one after the other, with zeros up to a whole word of 8
// bytes; and back. For whole thread blocks, without a barrier.
template <typename Word>
__device__ void gather_in(std::uint64_t* values, const Piece& piece) {
  if (piece.box.is_dense()) {
    copy_in(values, piece.at, piece.bytes);
    return;
  }
  auto* const out = reinterpret_cast<std::byte*>(values);
  const auto copy = [&](std::uint32_t inside, std::uint64_t offset) {
    __pipeline_memcpy_async(out + inside, piece.at + offset, 16);
  };
  if (for_each_unit(piece.box, sizeof(Word), piece.at, copy)) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    return;
  }
  for (std::uint32_t at = threadIdx.x; at < piece.values; at += blockDim.x) {
    reinterpret_cast<Word*>(out)[at] = load_value<Word>(piece.place<sizeof(Word)>(at));
  }
  const std::uint32_t padding = (8 - piece.bytes % 8) % 8;
  if (threadIdx.x < padding) out[piece.bytes + threadIdx.x] = std::byte{0};
}

template <typename Sink>
__device__ void scatter_out(const Sink& sink, const Target& target, const std::uint64_t* values) {
  using Word = typename Sink::Word;
  if (!Sink::kAdds && target.box.is_dense()) {
    copy_out(target.at, values, target.bytes);
    return;
  }
  const auto* const in = reinterpret_cast<const std::byte*>(values);
  const auto put = [&](std::uint32_t inside, std::uint64_t offset) {
    sink.put_aligned(target.at + offset, *reinterpret_cast<const uint4*>(in + inside));
  };
  if (for_each_unit(target.box, sizeof(Word), target.at, put)) return;
  for (std::uint32_t at = threadIdx.x; at < target.values; at += blockDim.x) {
    sink.put(target.template place<sizeof(Word)>(at), reinterpret_cast<const Word*>(in)[at]);
  }
}

}  // namespace thinwire::codec::cuda
