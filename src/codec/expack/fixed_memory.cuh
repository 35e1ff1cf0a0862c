// Encoding whole chunks of bf16 in mode `fixed`: the memory of a thread block, and chunks that are
// encoded there, as encode.cuh does; spec/codec-expack.md.
#pragma once

#include "codec/cuda/variable_encode.cuh"
#include "codec/expack/encode.cuh"
#include "codec/expack/fixed_words.cuh"

namespace thinwire::codec::expack {

// Shared memory of a thread block.
struct FixedEncodeShared {
  union {
    uint4 groups[kStretches][kWholeRows * kRowGroups];  // a warp's, from its own copies
    std::uint64_t payload[kChunkBytes / 8];             // of a chunk that is encoded here
  };
  union {
    std::uint64_t raws[kMostRaw / 8];
    EncodeState state;
  };
  std::uint64_t sums[kStretches];
  std::uint64_t offset;
  std::uint64_t next;                // chunk of the thread block
  std::uint32_t totals[kStretches];  // raw exponents of a stretch, in the upper half exponents of 0
  alignas(8) std::uint32_t head[kStretches];
};

// Encodes all chunks of a frame in a loop of its own (fixed_encode.cuh). With so many resident
// blocks a GPU of 132 multiprocessors encodes all chunks of 16 MiB at once.
struct FixedCoder {
  static constexpr Dtype kDtype = Dtype::kBf16;
  static constexpr int kThreads = 32 * kStretches;
  static constexpr int kResident = 8;
  static constexpr bool kLooksBack = true;
  using EncodeShared = FixedEncodeShared;

  __device__ static void encode_chunks(const EncodeJob& job, const cuda::BlockPlace& at,
                                       FixedEncodeShared& shared);
};

// How a chunk is encoded: the last three in the thread block's memory.
enum class Path { kInRegisters, kRaw, kMasked, kNotWhole };

__device__ inline Path path_of(std::uint32_t totals) {
  if (takes_mask<Dtype::kBf16>(totals >> 16, kWholeValues)) return Path::kMasked;
  return (totals & 0xFFFF) > kMostRaw ? Path::kRaw : Path::kInRegisters;
}

// Counts a chunk of a short frame. This and encode_in_memory() are functions of their own, whose
// needs leave registers to the usual path.
static __device__ __attribute__((noinline)) void count_chunk(const EncodeJob& job,
                                                             cuda::BlockPlace at,
                                                             std::uint32_t bytes) {
  cuda::count_encoded(job, at, job.parameter, bytes);
}

// Says a chunk's size. One thread.
__device__ inline void say_size(const EncodeJob& job, const cuda::BlockPlace& at,
                                const cuda::Tickets& tickets, std::uint64_t index,
                                std::uint32_t bytes) {
  cuda::say(cuda::words_of(at.workspace), index, cuda::kAdds, bytes);
  if (tickets.one_each()) count_chunk(job, at, bytes);
}

// Encodes a chunk in the thread block's memory, in which the values of one for Path::kRaw are
// already, and writes it. Has barriers.
static __device__ __attribute__((noinline)) void encode_in_memory(const EncodeJob& job,
                                                                  cuda::BlockPlace at,
                                                                  std::uint64_t index, Path path,
                                                                  FixedEncodeShared& shared) {
  const cuda::Piece piece = cuda::piece_of<sizeof(std::uint16_t)>(job.layout, index, at.from);
  cuda::Pending made{index, piece.bytes, kRawChunk};
  if (path == Path::kMasked && threadIdx.x < kStretches) {
    shared.state.zeros[threadIdx.x] = shared.totals[threadIdx.x] >> 16;
  }
  if (path != Path::kRaw) {
    __syncthreads();  // the chunk before may still be read
    const std::uint32_t bytes = encode_piece<Dtype::kBf16, kWholeRows>(
        piece, reinterpret_cast<std::byte*>(shared.payload),
        static_cast<std::uint64_t>(Mode::kFixed), shared.state, path == Path::kMasked);
    if (bytes < piece.bytes) {
      made = {index, bytes, 0};
    } else {
      __syncthreads();
      cuda::gather_in<std::uint16_t>(shared.payload, piece);
    }
  }
  if (threadIdx.x == 0) {
    say_size(job, at, cuda::Tickets(at.workspace, job.layout.chunks), index, made.bytes);
  }
  __syncthreads();
  cuda::write_chunk<FixedCoder>(job, at, made, shared.payload, shared);
}

}  // namespace thinwire::codec::expack
