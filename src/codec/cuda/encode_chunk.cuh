// One chunk of an encoder of variable_frame.cuh: its payload, its size said, its place in the
// frame; and the frame's end.
#pragma once

#include "codec/cuda/copy.cuh"
#include "codec/cuda/variable_frame.cuh"

namespace thinwire::codec::cuda {

// A chunk that is encoded and not yet written.
struct Pending {
  std::uint64_t index;
  std::uint32_t bytes;
  std::uint32_t flag;  // kRawChunk or 0
};

// Notes, for end_encode(), that the array is declined. One thread, before it says the chunk's size.
__device__ inline void meet_integers(std::byte* workspace) {
  atomicOr(&state_of(workspace)->statuses, 1u);
  __threadfence();
}

// An encoded chunk, filled up to whole words, or the values as they are if that is not smaller.
template <typename Word>
__device__ Pending fill_up(const Piece& piece, std::uint64_t index, std::uint32_t bytes,
                           std::uint64_t* payload) {
  if (bytes < piece.bytes) {
    if (threadIdx.x < (8 - bytes % 8) % 8) {
      reinterpret_cast<std::byte*>(payload)[bytes + threadIdx.x] = std::byte{0};
    }
    return {index, bytes, 0};
  }
  __syncthreads();
  gather_in<Word>(payload, piece);
  return {index, piece.bytes, kRawChunk};
}

// The values of a chunk become its payload.
template <typename Coder>
__device__ Pending make_payload(const EncodeJob& job, const BlockPlace& at, std::uint64_t index,
                                std::uint64_t parameter, std::uint64_t* payload,
                                EncodeShared<Coder>& shared) {
  const Piece piece = piece_of<sizeof(CoderWord<Coder>)>(job.layout, index, at.from);
  const std::uint32_t bytes = Coder::encode(piece, payload, parameter, shared.state);
  if constexpr (requires { Coder::met_integers(shared.state); }) {
    if (job.declines_integers && threadIdx.x == 0 && Coder::met_integers(shared.state)) {
      meet_integers(at.workspace);
    }
  }
  return fill_up<CoderWord<Coder>>(piece, index, bytes, payload);
}

// Writes a chunk to its place, if that is in the frame's room. Has a barrier before the copy, which
// completes the payload.
template <typename Coder>
__device__ void write_chunk(const EncodeJob& job, const BlockPlace& at, const Pending& chunk,
                            const std::uint64_t* payload, EncodeShared<Coder>& shared) {
  ScanWord* const words = words_of(at.workspace);
  if (job.checksums) {
    sum_over_warp(sum_of_words<Coder::kThreads>(payload, (chunk.bytes + 7) / 8), shared.sums);
  }
  if constexpr (requires { Coder::kLooksBack; }) {
    if (threadIdx.x < 32) {
      const std::uint64_t before = look_back(words, chunk.index, chunk.bytes);
      if (threadIdx.x == 0) shared.offset = before;
    }
  } else if (threadIdx.x == 0) {
    shared.offset = await_sum(words, chunk.index) - chunk.bytes;
  }
  __syncthreads();
  std::byte* const table = at.to + job.header.bytes();
  const std::uint64_t first = job.layout.table_bytes() + shared.offset;
  const std::uint64_t row = chunk.index * kTableRowBytes;
  const std::uint64_t room = at.room - job.header.bytes();
  if (first + chunk.bytes <= room) copy_out(table + first, payload, chunk.bytes);
  if (threadIdx.x == 0 && row + kTableRowBytes <= room) {
    const std::uint64_t sum =
        job.checksums ? checksum_finish(chunk.bytes, sum_of_warps(shared.sums)) : 0;
    store_word(table + row, sum << 32 | chunk.flag | chunk.bytes);
  }
}

// Ends the frame: its size is known then, and what reads the frame comes later in the stream. One
// thread.
__device__ inline void end_encode(const EncodeJob& job, const BlockPlace& at,
                                  std::uint64_t parameter, std::uint64_t payloads) {
  if (job.declines_integers) {
    __threadfence();
    if (atomicExch(&state_of(at.workspace)->statuses, 0u) != 0) {
      return publish(at.outcome, StatusCode::kHoldsIntegers, 0);
    }
  }
  frame::HeaderWords header = job.header;
  header.word[frame::kParameterWord] = parameter;
  end_frame(header, job.layout.table_bytes() + payloads, job.limit, at.to, at.outcome, at.room);
}

// Counts a chunk of a short frame, whose blocks have one each; who counts the last one ends it,
// sooner than the running sums would be known. One thread.
__device__ inline void count_encoded(const EncodeJob& job, const BlockPlace& at,
                                     std::uint64_t parameter, std::uint32_t bytes) {
  constexpr int kCountShift = 40;
  unsigned long long* const encoded = &state_of(at.workspace)->encoded;
  const unsigned long long own = 1ull << kCountShift | bytes;
  const unsigned long long all = atomicAdd(encoded, own) + own;
  if (all >> kCountShift != job.layout.chunks) return;
  *encoded = 0;
  end_encode(job, at, parameter, all & ((1ull << kCountShift) - 1));
}

}  // namespace thinwire::codec::cuda
