// Whole boxes: residuals added up along the axes, and the way from there to the array. The mirror
// image of differences.cuh.
#pragma once

#include "codec/cuda/warp.cuh"
#include "codec/ndzip/differences.cuh"

namespace thinwire::codec::ndzip {

using cuda::kAllLanes;

template <typename Word>
__device__ void add_along(Word* row, int count) {
#pragma unroll
  for (int i = 1; i < count; ++i) row[i] += row[i - 1];
}

// Along x, in registers. `totals` is shared memory of a word a warp, which only lines need.
template <typename Word, int kAxes>
__device__ void add_along_x(Part<Word>& words, Word* totals) {
  constexpr int kCount = Staging<Word>::kThreadWords;
  if constexpr (kAxes == 3) {
#pragma unroll
    for (int row = 0; row < kCount / 16; ++row) add_along(words + 16 * row, 16);
    return;
  }
  add_along(words, kCount);
  constexpr int kRowLanes = kAxes == 1 ? 32 : 64 / kCount;
  Word before = cuda::sum_up_to_lane<kRowLanes>(words[kCount - 1]) - words[kCount - 1];
  if constexpr (kAxes == 1) {
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 31) totals[warp] = before + words[kCount - 1];
    __syncthreads();
#pragma unroll
    for (unsigned other = 0; other + 1 < Staging<Word>::kThreads / 32; ++other) {
      if (other < warp) before += totals[other];
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) words[i] += before;
}

// 8 bytes of a row: two words, or one.
template <typename Word>
struct Cell {
  static constexpr int kWords = 8 / sizeof(Word);
  Word word[kWords];

  __device__ void add(const Cell& other) {
#pragma unroll
    for (int at = 0; at < kWords; ++at) word[at] += other.word[at];
  }
};

template <typename Word>
__device__ Cell<Word>& cell_at(const Staging<Word>& staging, std::uint32_t byte) {
  return *reinterpret_cast<Cell<Word>*>(staging.base + slot(byte));
}

// 8 bytes of values to a place that is aligned to 8.
template <typename Word, typename Sink>
__device__ void put_cell(const Sink& sink, std::byte* at, const Cell<Word>& cell) {
  if constexpr (sizeof(Word) == 8) {
    sink.put_aligned(at, sign_to_high(cell.word[0]));
  } else {
    auto* const place = reinterpret_cast<uint2*>(at);
    uint2 values = {sign_to_high(cell.word[0]), sign_to_high(cell.word[1])};
    if constexpr (Sink::kAdds) {
      const uint2 there = *place;
      values = {add_and_scale<Sink::kDtype>(there.x, values.x, sink.scale),
                add_and_scale<Sink::kDtype>(there.y, values.y, sink.scale)};
    }
    *place = values;
  }
}

// The last 16 cells of a column, sums of their box by now, to places `stride` bytes apart.
template <typename Word, typename Sink>
__device__ void put_column(const Sink& sink, std::byte* at, std::uint64_t stride, bool is_aligned,
                           const Cell<Word> (&column)[16]) {
  if (is_aligned) {
#pragma unroll
    for (int i = 0; i < 16; ++i) put_cell(sink, at + i * stride, column[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
#pragma unroll
    for (int word = 0; word < Cell<Word>::kWords; ++word) {
      sink.put(at + i * stride + word * sizeof(Word), sign_to_high(column[i].word[word]));
    }
  }
}

// Sixteen cells `stride` bytes apart, the first at byte `first` of the box, added up.
template <typename Word>
__device__ void load_column(const Staging<Word>& staging, std::uint32_t first, std::uint32_t stride,
                            Cell<Word> (&column)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) column[i] = cell_at(staging, first + i * stride);
#pragma unroll
  for (int i = 1; i < 16; ++i) column[i].add(column[i - 1]);
}

// The rest, for words that are sums along x. Begins and ends without a barrier; `columns` is shared
// memory that only planes need.
template <typename Word, typename Sink>
__device__ void finish_1d(const Staging<Word>& staging, const cuda::Target& target,
                          const Part<Word>& words, const Sink& sink) {
  using Stage = Staging<Word>;
  store_words(staging.part(threadIdx.x), words);
  __syncthreads();
  if (reinterpret_cast<std::uintptr_t>(target.at) % 8 != 0 || target.values != kBoxValues) {
    store_clipped(staging, target, sink);
    return;
  }
#pragma unroll
  for (int at = 0; at < 16; ++at) {
    const std::uint32_t byte = 8 * (at * Stage::kThreads + threadIdx.x);
    put_cell(sink, target.at + byte, cell_at(staging, byte));
  }
}

// A column of 64 cells is that of four threads.
template <typename Word, typename Sink>
__device__ void finish_2d(const Staging<Word>& staging, const cuda::Target& target,
                          const Part<Word>& words, Cell<Word>* totals, const Sink& sink) {
  constexpr std::uint32_t kRowCells = 64 / Cell<Word>::kWords;
  const WholeBox<Word, 2> box(target.box);
  store_words(staging.part(threadIdx.x), words);
  __syncthreads();
  const std::uint32_t x = threadIdx.x % kRowCells;
  const std::uint32_t quarter = threadIdx.x / kRowCells;
  Cell<Word> column[16];
  load_column(staging, quarter * 16 * box.kRowBytes + 8 * x, box.kRowBytes, column);
  totals[threadIdx.x] = column[15];
  __syncthreads();
  Cell<Word> before{};
#pragma unroll
  for (std::uint32_t other = 0; other < 3; ++other) {
    if (other < quarter) before.add(totals[other * kRowCells + x]);
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) column[i].add(before);
  put_column(sink, target.at + quarter * 16 * box.row + 8 * x, box.row,
             box.template is_aligned<8>(target.at), column);
}

template <typename Word, typename Sink>
__device__ void finish_3d(const Staging<Word>& staging, const cuda::Target& target,
                          const Part<Word>& words, const Sink& sink) {
  constexpr std::uint32_t kRowCells = 16 / Cell<Word>::kWords;
  const WholeBox<Word, 3> box(target.box);
  constexpr std::uint32_t kPlaneBytes = 16 * WholeBox<Word, 3>::kRowBytes;
  store_words(staging.part(threadIdx.x), words);
  __syncthreads();
  const std::uint32_t x = 8 * (threadIdx.x % kRowCells);
  const std::uint32_t line = threadIdx.x / kRowCells;
  Cell<Word> column[16];
  load_column(staging, line * kPlaneBytes + x, box.kRowBytes, column);
#pragma unroll
  for (int y = 1; y < 16; ++y) {
    cell_at(staging, line * kPlaneBytes + y * box.kRowBytes + x) = column[y];
  }
  __syncthreads();
  load_column(staging, line * box.kRowBytes + x, kPlaneBytes, column);
  put_column(sink, target.at + line * box.row + x, box.plane, box.template is_aligned<8>(target.at),
             column);
}

}  // namespace thinwire::codec::ndzip
