// Kernels for codecs of fixed encoded size: one thread block a tile, one pass from the array to the
// finished frame.
//
// A coder is what its kernels are given besides the job, and has
//   kThreads        of a thread block, a multiple of kChecksumLanes
//   kResident       thread blocks that a multiprocessor should be able to hold
//   kScratchBytes   of shared memory
//   kSmallScratchBytes   the same in code for compute capabilities below 8.0
//   encode(source, tile, payload, scratch)   fills the tile's payload, and the rest of its last
//                   word with zeros; false for a thread that met data which the codec declines
//   decode(payload, tile, scratch, destination)   stores the tile's values
// Both are for whole thread blocks, without a barrier at their ends. `payload` is shared memory for
// a tile and kPayloadPadding bytes more that may be read; it is complete for all threads when
// decode begins, and it and `scratch` (kScratchBytes) are aligned to 16 bytes.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/resident.h"
#include "codec/cuda/tiles.h"
#include "codec/job.h"

namespace thinwire::codec::cuda {

inline constexpr std::uint32_t kPayloadPadding = 16;

// Bytes of shared memory for a payload; a multiple of 16.
THINWIRE_HOST_DEVICE inline std::uint32_t padded_tile_bytes(const Tiles& tiles) {
  return (tiles.tile_bytes + kPayloadPadding + 15) / 16 * 16;
}

// The workspace: this, then a FixedChunk for each chunk.
struct FixedGrid {
  unsigned arrived;   // chunks that are done
  unsigned problems;  // kDeclinedData, kMetIntegers, kDamagedChunk, or a header's status
  std::uint64_t unused;
};

struct FixedChunk {
  unsigned long long sum;
  unsigned arrived;  // tiles that are done
  unsigned unused;
};

inline constexpr unsigned kDeclinedData = 1;
inline constexpr unsigned kMetIntegers = 2;
inline constexpr unsigned kDamagedChunk = 1;
inline constexpr int kHeaderStatusShift = 8;

// As DeviceCodec has it, for any parameter.
inline std::uint64_t fixed_workspace_bytes(const Layout& layout, std::uint64_t) {
  return sizeof(FixedGrid) + layout.chunks * sizeof(FixedChunk);
}

__device__ inline FixedGrid* grid_of(std::byte* workspace) {
  return reinterpret_cast<FixedGrid*>(workspace);
}

// The problems that an encode has met; coders may add kMetIntegers before their tile ends.
inline unsigned* problems_of(std::byte* workspace) {
  return &reinterpret_cast<FixedGrid*>(workspace)->problems;
}

__device__ inline FixedChunk* chunk_of(std::byte* workspace, std::uint64_t index) {
  return reinterpret_cast<FixedChunk*>(workspace + sizeof(FixedGrid)) + index;
}

// The thread's part of the checksum of a tile that lies in `payload`.
template <int kThreads>
__device__ std::uint64_t sum_of(const Tile& tile, const std::uint64_t* payload) {
  return sum_of_words<kThreads>(payload, (tile.bytes + 7) / 8,
                                static_cast<std::uint32_t>(tile.offset / 8));
}

// Copies a tile to its place in the frame; the thread's part of the checksum.
template <typename Coder>
__device__ std::uint64_t write_tile(const Tile& tile, const std::uint64_t* payload, std::byte* out,
                                    bool checksums) {
  const std::uint32_t whole = tile.bytes / 8;
  if (reinterpret_cast<std::uintptr_t>(out) % 8 == 0) {
#pragma unroll 4
    for (std::uint32_t at = threadIdx.x; at < whole; at += Coder::kThreads) {
      reinterpret_cast<std::uint64_t*>(out)[at] = payload[at];
    }
  } else {
#pragma unroll 1
    for (std::uint32_t at = threadIdx.x; at < whole; at += Coder::kThreads) {
      store_word(out + 8 * std::uint64_t{at}, payload[at]);
    }
  }
  if (threadIdx.x < tile.bytes % 8) {
    const std::uint32_t at = 8 * whole + threadIdx.x;
    out[at] = reinterpret_cast<const std::byte*>(payload)[at];
  }
  return checksums ? sum_of<Coder::kThreads>(tile, payload) : 0;
}

// Copies a tile's payload from the frame to `payload`, with zeros after the tile's end, and returns
// its sum as write_tile() does. For whole thread blocks; has a barrier after the copy.
template <typename Coder>
__device__ std::uint64_t read_tile(const Tile& tile, const std::byte* in, std::uint64_t* payload,
                                   bool checksums) {
  const std::uint32_t whole = tile.bytes / 8;
  if (reinterpret_cast<std::uintptr_t>(in) % 8 == 0) {
#pragma unroll 4
    for (std::uint32_t at = threadIdx.x; at < whole; at += Coder::kThreads) {
      payload[at] = reinterpret_cast<const std::uint64_t*>(in)[at];
    }
  } else {
#pragma unroll 1
    for (std::uint32_t at = threadIdx.x; at < whole; at += Coder::kThreads) {
      payload[at] = load_word(in + 8 * std::uint64_t{at});
    }
  }
  if (tile.bytes % 8 != 0 && threadIdx.x < 8) {
    const std::uint32_t at = 8 * whole + threadIdx.x;
    reinterpret_cast<std::byte*>(payload)[at] = at < tile.bytes ? in[at] : std::byte{0};
  }
  __syncthreads();
  return checksums ? sum_of<Coder::kThreads>(tile, payload) : 0;
}

// Adds a tile's sum to its chunk. For the thread that brings the last one, true, and the chunk's
// sum; the chunk's state is zeros again then.
__device__ inline bool ends_chunk(std::byte* workspace, const Tile& tile, std::uint64_t& sum,
                                  bool checksums) {
  FixedChunk* const chunk = chunk_of(workspace, tile.chunk);
  if (checksums) atomicAdd(&chunk->sum, static_cast<unsigned long long>(sum));
  __threadfence();
  const unsigned last = tile.chunk_tiles - 1;
  if (atomicInc(&chunk->arrived, last) != last) return false;
  __threadfence();
  sum = checksums ? atomicExch(&chunk->sum, 0ull) : 0;
  return true;
}

// For the thread that ends the last chunk of the grid, true, and what the tiles met.
__device__ inline bool ends_grid(std::byte* workspace, std::uint64_t chunks, unsigned& problems) {
  FixedGrid* const grid = grid_of(workspace);
  __threadfence();
  const auto last = static_cast<unsigned>(chunks - 1);
  if (atomicInc(&grid->arrived, last) != last) return false;
  __threadfence();
  problems = atomicExch(&grid->problems, 0u);
  return true;
}

// The end of a tile, by one thread of its block.
__device__ inline void end_encoded_tile(const EncodeJob& job, const Tiles& tiles, const Tile& tile,
                                        std::uint64_t sum, bool taken) {
  if (!taken) atomicOr(&grid_of(job.workspace)->problems, kDeclinedData);
  if (!ends_chunk(job.workspace, tile, sum, job.checksums)) return;
  const std::uint64_t check = job.checksums ? checksum_finish(tile.chunk_bytes, sum) : 0;
  store_word(job.frame + job.header.bytes() + tile.chunk * kTableRowBytes,
             check << 32 | tile.chunk_bytes);
  unsigned problems = 0;
  if (!ends_grid(job.workspace, tiles.chunks, problems)) return;
  if (problems != 0) {
    publish(job.outcome,
            (problems & kMetIntegers) != 0 ? StatusCode::kHoldsIntegers : StatusCode::kDeclined, 0);
  } else {
    end_frame(job.header, job.layout.table_bytes() + tiles.payload_bytes(), job.limit, job.frame,
              job.outcome);
  }
}

template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads, resident(Coder::kThreads, Coder::kResident))
    encode_fixed(const EncodeJob job, const Tiles tiles, const Coder coder) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  __shared__ std::uint64_t sums[Coder::kThreads / 32];
  std::byte* const scratch = reinterpret_cast<std::byte*>(shared_words) + padded_tile_bytes(tiles);
  std::byte* const payloads = job.frame + job.header.bytes() + job.layout.table_bytes();
  const Tile tile = tiles.at(blockIdx.x);
  const bool mine = coder.encode(job.source, tile, shared_words, scratch);
  const bool taken = __syncthreads_and(mine) != 0;
  std::byte* const out = payloads + tile.chunk * tiles.chunk_bytes + tile.offset;
  const std::uint64_t part = write_tile<Coder>(tile, shared_words, out, job.checksums);
  if (job.checksums) {
    sum_over_warp(part, sums);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  end_encoded_tile(job, tiles, tile, job.checksums ? sum_of_warps(sums) : 0, taken);
}

// Ends an encode of nothing, or one that has no room: writes the header alone, or declines.
static __global__ void encode_nothing(const EncodeJob job, const std::uint64_t body_bytes) {
  end_frame(job.header, body_bytes, job.limit, job.frame, job.outcome);
}

// The status of a decode that met these problems. The header's is reported before that of the
// chunks: the bytes may be anybody's.
__device__ inline StatusCode status_of(unsigned problems) {
  const auto status = static_cast<StatusCode>(problems >> kHeaderStatusShift);
  return status == StatusCode::kOk && problems != 0 ? StatusCode::kDamaged : status;
}

__device__ inline void end_decoded_tile(const DecodeJob& job, const Tiles& tiles, const Tile& tile,
                                        std::uint64_t sum) {
  if (!ends_chunk(job.workspace, tile, sum, job.checksums)) return;
  const std::uint64_t row = load_word(job.frame + job.header.bytes() + tile.chunk * kTableRowBytes);
  const auto check = static_cast<std::uint32_t>(checksum_finish(tile.chunk_bytes, sum));
  if (static_cast<std::uint32_t>(row) != tile.chunk_bytes ||
      (job.checksums && row >> 32 != check)) {
    atomicOr(&grid_of(job.workspace)->problems, kDamagedChunk);
  }
  unsigned problems = 0;
  if (!ends_grid(job.workspace, tiles.chunks, problems)) return;
  publish_with_writes(job.outcome, status_of(problems), 0);
}

// For frames that are long enough for their payloads, which follow from the shape.
template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads, resident(Coder::kThreads, Coder::kResident))
    decode_fixed(const DecodeJob job, const Tiles tiles, const Coder coder) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  __shared__ std::uint64_t sums[Coder::kThreads / 32];
  std::byte* const scratch = reinterpret_cast<std::byte*>(shared_words) + padded_tile_bytes(tiles);
  const std::byte* const payloads = job.frame + job.header.bytes() + job.layout.table_bytes();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const auto status =
        static_cast<unsigned>(frame_status(job, job.frame, false, tiles.payload_bytes()));
    if (status != 0) atomicOr(&grid_of(job.workspace)->problems, status << kHeaderStatusShift);
  }
  const Tile tile = tiles.at(blockIdx.x);
  const std::byte* const in = payloads + tile.chunk * tiles.chunk_bytes + tile.offset;
  const std::uint64_t part = read_tile<Coder>(tile, in, shared_words, job.checksums);
  if (job.checksums) sum_over_warp(part, sums);
  coder.decode(shared_words, tile, scratch, job.destination);
  // The outcome says that the array is complete: what one thread fences from here on is what all
  // of them stored before.
  __syncthreads();
  if (threadIdx.x != 0) return;
  end_decoded_tile(job, tiles, tile, job.checksums ? sum_of_warps(sums) : 0);
}

// Ends a decode of no values, or of a frame too short for its values.
static __global__ void decode_nothing(const DecodeJob job, const std::uint64_t payload_bytes) {
  publish(job.outcome, frame_status(job, job.frame, false, payload_bytes), 0);
}

}  // namespace thinwire::codec::cuda
