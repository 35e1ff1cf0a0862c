// The array that the codec sees: the caller's, with values in the place of missing ones. As
// message/close_holes.cpp, each value by itself.
#include "message/fills/block.cuh"
#include "message/hole_line.h"

namespace thinwire::message::fills {
namespace {

// A chunk's bits, and the words before and after each in which a value is there.
struct Bits {
  const std::uint32_t* bits;
  const std::uint32_t* before;
  const std::uint32_t* after;
  std::uint32_t values;

  __device__ std::uint32_t there(std::uint32_t word) const {
    return ~bits[word] & valid_bits(word, values);
  }
  // The last value before `at` that is there, plus 1; 0 if there is none. And the next.
  __device__ std::uint32_t last_before(std::uint32_t at) const {
    const std::uint32_t word = at / 32;
    const std::uint32_t own = there(word) & ((1u << at % 32) - 1);
    if (own != 0) return 32 * word + highest_bit(own) + 1;
    if (before[word] == 0) return 0;
    const std::uint32_t other = before[word] - 1;
    return 32 * other + highest_bit(there(other)) + 1;
  }
  __device__ std::uint32_t next_after(std::uint32_t at) const {
    const std::uint32_t word = at / 32;
    const std::uint32_t own = there(word) & ~((2u << at % 32) - 1);
    if (own != 0) return 32 * word + lowest_bit(own) + 1;
    if (after[word] == 0) return 0;
    const std::uint32_t other = words_of(values) - after[word];
    return 32 * other + lowest_bit(there(other)) + 1;
  }
};

template <Dtype kDtype>
__device__ std::uint32_t mark_values(const EncodeWork& work, const codec::cuda::Piece& piece,
                                     std::uint32_t* bits) {
  using Word = WordOf<kDtype>;
  const auto fill = static_cast<Word>(work.state->fill);
  const bool has_fill = work.state->has_fill != 0;
  std::uint32_t missing = 0;
  for (std::uint32_t base = 0; base < piece.values; base += kThreads) {
    const std::uint32_t at = base + threadIdx.x;
    bool is_fill = false;
    if (has_fill && at < piece.values) {
      is_fill = load_value<Word>(piece.template place<sizeof(Word)>(at)) == fill;
    }
    const std::uint32_t word = __ballot_sync(kAllLanes, is_fill);
    if (threadIdx.x % 32 != 0 || at >= piece.values) continue;
    bits[at / 32] = word;
    missing += __popc(word);
  }
  return missing;
}

// Fills `before` and `after`; for whole thread blocks, after a barrier.
__device__ void link_words(std::uint32_t* before, std::uint32_t* after, const Bits& chunk,
                           Scratch& scratch) {
  const std::uint32_t words = words_of(chunk.values);
  std::uint32_t last = 0, next = 0;
  for (std::uint32_t base = 0; base < words; base += kThreads) {
    const std::uint32_t at = base + threadIdx.x;
    const bool exists = at < words;
    const bool is_there = exists && chunk.there(at) != 0;
    const auto lasts = most_before_thread(is_there ? at + 1 : 0, scratch.most);
    if (exists) before[at] = lasts.before > last ? lasts.before : last;
    const std::uint32_t mirror = words - 1 - at;
    const bool is_there_too = exists && chunk.there(mirror) != 0;
    const auto nexts = most_before_thread(is_there_too ? at + 1 : 0, scratch.counts);
    if (exists) after[mirror] = nexts.before > next ? nexts.before : next;
    last = lasts.total > last ? lasts.total : last;
    next = nexts.total > next ? nexts.total : next;
    __syncthreads();
  }
}

// Bytes of the lengths of runs; for whole thread blocks.
__device__ std::uint32_t count_run_bytes(const Bits& chunk, Scratch& scratch) {
  const std::uint32_t words = words_of(chunk.values);
  std::uint32_t last = 0, bytes = 0;
  for (std::uint32_t base = 0; base < words; base += kThreads) {
    const std::uint32_t word = base + threadIdx.x;
    std::uint32_t turns = word < words ? turns_of(chunk.bits, word, chunk.values) : 0;
    const auto most =
        most_before_thread(turns != 0 ? 32 * word + highest_bit(turns) : 0, scratch.most);
    std::uint32_t from = most.before > last ? most.before : last;
    unsigned own = 0;
    for (; turns != 0; turns &= turns - 1) {
      const std::uint32_t at = 32 * word + lowest_bit(turns);
      own += length_bytes(at - from);
      from = at;
    }
    bytes += sum_before_thread<kThreads>(own, scratch.counts).total;
    last = most.total > last ? most.total : last;
    __syncthreads();
  }
  return bytes + length_bytes(chunk.values - last);
}

// Says which values of each chunk are missing, and what its mask will be.
template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) mark(const __grid_constant__ EncodeWork work) {
  __shared__ Scratch scratch;
  using Word = WordOf<kDtype>;
  const std::uint64_t index = blockIdx.x;
  const auto piece = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.source);
  std::uint32_t* const bits = work.bits + index * work.words;
  std::uint32_t* const before = work.before + index * work.words;
  std::uint32_t* const after = work.after + index * work.words;
  const unsigned own = mark_values<kDtype>(work, piece, bits);
  const std::uint32_t missing = sum_before_thread<kThreads>(own, scratch.counts).total;
  __syncthreads();
  const Bits chunk{bits, before, after, piece.values};
  link_words(before, after, chunk, scratch);
  const std::uint32_t runs = count_run_bytes(chunk, scratch);
  if (threadIdx.x != 0) return;
  const std::uint32_t most = mask_bytes_of(piece.values);
  ChunkMask mask{ChunkMask::kNone, work.state->has_fill != 0 ? 1u : 0u, 0};
  if (missing == piece.values) {
    mask.kind = ChunkMask::kAll;
  } else if (missing != 0) {
    mask.kind = runs <= most ? ChunkMask::kRuns : ChunkMask::kBits;
    mask.bytes = 1 + (runs <= most ? runs : most);
  }
  work.masks[index] = mask;
  if (missing == piece.values) return;
  // Some value that is there, for chunks without any.
  const std::uint32_t first =
      chunk.there(0) != 0 ? lowest_bit(chunk.there(0)) : chunk.next_after(31) - 1;
  const auto offset =
      static_cast<std::uint64_t>(piece.template place<sizeof(Word)>(first) - work.source);
  atomicMax(&work.state->there, ~(offset / sizeof(Word)));
}

// Value `at` of a chunk in which some are there.
template <Dtype kDtype>
__device__ WordOf<kDtype> closed_value(const codec::cuda::Piece& piece, const Bits& chunk,
                                       std::uint32_t at) {
  using Word = WordOf<kDtype>;
  const auto word_at = [&](std::uint32_t value) {
    return load_value<Word>(piece.template place<sizeof(Word)>(value));
  };
  if (!is_missing(chunk.bits, at)) return word_at(at);
  const std::uint32_t row = piece.box.x;
  std::uint32_t last = chunk.last_before(at), next = chunk.next_after(at);
  std::uint32_t begin = at - at % row;
  const auto is_here = [&](std::uint32_t value) { return value > begin && value <= begin + row; };
  if (!is_here(last) && !is_here(next)) {
    // A row without values is as the nearest one before it that has some, or else the next.
    const std::uint32_t other = (last != 0 ? last : next) - 1;
    at = other - other % row + at % row;
    if (!is_missing(chunk.bits, at)) return word_at(at);
    begin = at - at % row;
    last = chunk.last_before(at), next = chunk.next_after(at);
  }
  const std::uint32_t hole = is_here(last) ? last : begin;
  const std::uint32_t end = is_here(next) ? next - 1 : begin + row;
  const Word before = word_at(is_here(last) ? last - 1 : next - 1);
  const HoleLine<kDtype> line(before, is_here(next) ? word_at(next - 1) : before, end - hole);
  return line.at(at - hole);
}

template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) close_chunk(const __grid_constant__ EncodeWork work) {
  using Word = WordOf<kDtype>;
  const std::uint64_t index = blockIdx.x;
  const auto piece = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.source);
  const auto closed = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.values);
  const Bits chunk{work.bits + index * work.words, work.before + index * work.words,
                   work.after + index * work.words, piece.values};
  const unsigned long long there = work.state->there;
  const bool is_empty = work.masks[index].kind == ChunkMask::kAll;
  // The codec's range and what it declines must not follow from a chunk that it codes for nothing.
  const Word stand_in =
      is_empty && there != 0 ? load_value<Word>(work.source + ~there * sizeof(Word)) : Word{0};
  for (std::uint32_t at = threadIdx.x; at < piece.values; at += kThreads) {
    const Word value = is_empty ? stand_in : closed_value<kDtype>(piece, chunk, at);
    store_value(closed.template place<sizeof(Word)>(at), value);
  }
}

}  // namespace

Status enqueue_close(const EncodeWork& work, device::StreamHandle stream) {
  return with_float_dtype(work.layout.array.dtype, [&](auto kDtype) {
    Status status = launch_chunks(mark<kDtype>, work, stream, work);
    return status.ok() ? launch_chunks(close_chunk<kDtype>, work, stream, work) : status;
  });
}

}  // namespace thinwire::message::fills
