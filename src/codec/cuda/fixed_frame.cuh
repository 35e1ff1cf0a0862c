// Kernels for codecs of fixed encoded size: one thread block a tile, one pass from the array to the
// finished frame.
//
// A coder is what its kernels are given besides the job, and has
//   kThreads        of a thread block, a multiple of 32
//   kScratchBytes   of shared memory
//   encode(source, tile, payload, scratch)   fills the tile's payload, whole words with zeros
//                   behind its end; false for a thread that met data which the codec declines
//   decode(payload, tile, scratch, destination)   stores the tile's values
// Both are for whole thread blocks, without a barrier at their ends. `payload` is shared memory for
// a tile and kPayloadPadding bytes more that may be read; it is complete for all threads when
// decode begins, and it and `scratch` (kScratchBytes) are aligned to 16 bytes.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/tiles.h"
#include "codec/job.h"

namespace thinwire::codec::cuda {

inline constexpr std::uint32_t kPayloadPadding = 16;

// Of shared memory for a payload; a multiple of 16.
THINWIRE_HOST_DEVICE inline std::uint32_t padded_tile_bytes(const Tiles& tiles) {
  return (tiles.tile_bytes + kPayloadPadding + 15) / 16 * 16;
}

// The workspace: this, then a FixedChunk for each chunk.
struct FixedGrid {
  unsigned arrived;   // chunks that are done
  unsigned problems;  // kDeclinedData, kDamagedChunk, or a header's status
  std::uint64_t unused;
};

struct FixedChunk {
  unsigned long long sum;
  unsigned arrived;  // tiles that are done
  unsigned unused;
};

inline constexpr unsigned kDeclinedData = 1;
inline constexpr unsigned kDamagedChunk = 1;
inline constexpr int kHeaderStatusShift = 8;

inline std::uint64_t fixed_workspace_bytes(const Layout& layout) {
  return sizeof(FixedGrid) + layout.chunks * sizeof(FixedChunk);
}

__device__ inline FixedGrid* grid_of(std::byte* workspace) {
  return reinterpret_cast<FixedGrid*>(workspace);
}

__device__ inline FixedChunk* chunk_of(std::byte* workspace, std::uint64_t index) {
  return reinterpret_cast<FixedChunk*>(workspace + sizeof(FixedGrid)) + index;
}

// The sum of terms that a thread adds for words at `place`, `place` + kThreads, ... of a payload.
// Where all of them stand at one lane its key is found once.
template <int kThreads>
class TermSum {
 public:
  __device__ explicit TermSum(std::uint64_t place) : key_(checksum_key(place % kChecksumLanes)) {}

  __device__ void add(std::uint64_t word, std::uint64_t place) {
    if constexpr (kThreads % kChecksumLanes == 0) {
      sum_ += checksum_product(word, key_) * checksum_weight(place / kChecksumLanes);
    } else {
      sum_ += checksum_term(word, place);
    }
  }
  __device__ std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t key_;
  std::uint64_t sum_ = 0;
};

// Copies a tile to its place in the frame; the thread's part of the checksum.
template <typename Coder>
__device__ std::uint64_t write_tile(const Tile& tile, const std::uint64_t* payload, std::byte* out,
                                    bool checksums) {
  const std::uint64_t first = tile.offset / 8;
  TermSum<Coder::kThreads> terms(first + threadIdx.x);
#pragma unroll 4
  for (std::uint32_t at = threadIdx.x; at < (tile.bytes + 7) / 8; at += Coder::kThreads) {
    const std::uint64_t word = payload[at];
    if (checksums) terms.add(word, first + at);
    if (8 * at + 8 <= tile.bytes) {
      store_word(out + 8 * std::uint64_t{at}, word);
    } else {
      for (std::uint32_t byte = 8 * at; byte < tile.bytes; ++byte) {
        out[byte] = static_cast<std::byte>(word >> (8 * (byte % 8)));
      }
    }
  }
  return terms.sum();
}

// The reverse, with zeros behind the tile's end.
template <typename Coder>
__device__ std::uint64_t read_tile(const Tile& tile, const std::byte* in, std::uint64_t* payload,
                                   bool checksums) {
  const std::uint64_t first = tile.offset / 8;
  TermSum<Coder::kThreads> terms(first + threadIdx.x);
#pragma unroll 4
  for (std::uint32_t at = threadIdx.x; at < (tile.bytes + 7) / 8; at += Coder::kThreads) {
    std::uint64_t word = 0;
    if (8 * at + 8 <= tile.bytes) {
      word = load_word(in + 8 * std::uint64_t{at});
    } else {
      for (std::uint32_t byte = 8 * at; byte < tile.bytes; ++byte) {
        word |= static_cast<std::uint64_t>(in[byte]) << (8 * (byte % 8));
      }
    }
    payload[at] = word;
    if (checksums) terms.add(word, first + at);
  }
  return terms.sum();
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
    publish(job.outcome, StatusCode::kDeclined, 0);
  } else {
    end_frame(job.header, job.layout.table_bytes() + tiles.payload_bytes(), job.limit, job.frame,
              job.outcome);
  }
}

template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads)
    encode_fixed(const EncodeJob job, const Tiles tiles, const Coder coder) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  __shared__ std::uint64_t sums[Coder::kThreads / 32];
  std::byte* const scratch = reinterpret_cast<std::byte*>(shared_words) + padded_tile_bytes(tiles);
  std::byte* const payloads = job.frame + job.header.bytes() + job.layout.table_bytes();
  for (std::uint64_t index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
    if (index != blockIdx.x) __syncthreads();
    const Tile tile = tiles.at(index);
    const bool mine = coder.encode(job.source, tile, shared_words, scratch);
    const bool taken = __syncthreads_and(mine) != 0;
    std::byte* const out = payloads + tile.chunk * tiles.chunk_bytes + tile.offset;
    std::uint64_t sum = write_tile<Coder>(tile, shared_words, out, job.checksums);
    if (job.checksums) sum = sum_over_block(sum, sums);
    if (threadIdx.x == 0) end_encoded_tile(job, tiles, tile, sum, taken);
  }
}

// Where there is nothing to encode, or no room for it: the header alone, or that it is declined.
static __global__ void encode_nothing(const EncodeJob job, const std::uint64_t body_bytes) {
  end_frame(job.header, body_bytes, job.limit, job.frame, job.outcome);
}

// The header of the frame, compared by one thread; a status other than kOk where it is another's.
__device__ inline StatusCode header_status(const DecodeJob& job, std::uint64_t payload_bytes) {
  std::uint64_t body = 0;
  const StatusCode status = check_header(job.frame, job.length, job.header, &body);
  if (status != StatusCode::kOk) return status;
  return body == job.layout.table_bytes() + payload_bytes ? StatusCode::kOk : StatusCode::kDamaged;
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
  // What the header is comes before what the chunks are: the bytes may be anybody's.
  StatusCode status = static_cast<StatusCode>(problems >> kHeaderStatusShift);
  if (status == StatusCode::kOk && problems != 0) status = StatusCode::kDamaged;
  publish(job.outcome, status, 0);
}

// For frames that are long enough for their payloads, which follow from the shape.
template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads)
    decode_fixed(const DecodeJob job, const Tiles tiles, const Coder coder) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  __shared__ std::uint64_t sums[Coder::kThreads / 32];
  std::byte* const scratch = reinterpret_cast<std::byte*>(shared_words) + padded_tile_bytes(tiles);
  const std::byte* const payloads = job.frame + job.header.bytes() + job.layout.table_bytes();
  for (std::uint64_t index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
    if (index == 0 && threadIdx.x == 0) {
      const auto status = static_cast<unsigned>(header_status(job, tiles.payload_bytes()));
      if (status != 0) atomicOr(&grid_of(job.workspace)->problems, status << kHeaderStatusShift);
    }
    const Tile tile = tiles.at(index);
    const std::byte* const in = payloads + tile.chunk * tiles.chunk_bytes + tile.offset;
    std::uint64_t sum = read_tile<Coder>(tile, in, shared_words, job.checksums);
    __syncthreads();
    coder.decode(shared_words, tile, scratch, job.destination);
    if (job.checksums) sum = sum_over_block(sum, sums);
    // The outcome says that the array is complete.
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) end_decoded_tile(job, tiles, tile, sum);
  }
}

// Where there is nothing to decode, or the frame is too short for it.
static __global__ void decode_nothing(const DecodeJob job, const std::uint64_t payload_bytes) {
  publish(job.outcome, header_status(job, payload_bytes), 0);
}

}  // namespace thinwire::codec::cuda
