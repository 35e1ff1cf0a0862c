// Kernels for codecs whose chunks have sizes that depend on the data: one thread block a chunk, one
// pass from the array to the finished frame.
//
// A coder has
//   kDtype            of the values
//   kThreads          threads of a thread block, a multiple of kChecksumLanes
//   kPayloadBytes     most bytes of an encoded chunk, and of a raw one; a multiple of 8
//   State             its own shared memory
//   encode(piece, payload, parameter, state)   turns the values of the piece into the chunk's
//                     payload in `payload`, and returns its size
//   decode(payload, bytes, target, parameter, state, sink)   false where the payload is damaged
// The two are for whole thread blocks and give every thread the same answer. `payload` is shared
// memory of kPayloadBytes, aligned to 16 bytes, complete for all threads when decode begins and
// when encode returns; others may read it until decode's first barrier.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/look_back.cuh"
#include "codec/cuda/piece.cuh"
#include "codec/job.h"

namespace thinwire::codec::cuda {

// The workspace: this, then a ScanWord for each chunk.
struct VariableState {
  unsigned arrived;
  unsigned status;
  std::uint64_t parameter;  // what an open one was resolved to, by a kernel before this one
};

inline std::uint64_t variable_workspace_bytes(const Layout& layout) {
  return sizeof(VariableState) + layout.chunks * sizeof(ScanWord);
}

template <typename Coder>
struct VariableShared {
  alignas(16) std::uint64_t payload[Coder::kPayloadBytes / 8];
  typename Coder::State state;
  std::uint64_t sums[Coder::kThreads / 32];
  std::uint64_t offset;
  bool is_last;
};

template <typename Coder>
using CoderWord = WordOf<Coder::kDtype>;

// The values of a chunk become its payload, or are taken as they are where that is not smaller.
// Returns the size, and kRawChunk in `flag` in the second case.
template <typename Coder>
__device__ std::uint32_t make_payload(const Piece& piece, std::uint64_t parameter,
                                      VariableShared<Coder>& shared, std::uint32_t& flag) {
  const std::uint32_t bytes = Coder::encode(piece, shared.payload, parameter, shared.state);
  if (bytes < piece.bytes) {
    if (threadIdx.x < (8 - bytes % 8) % 8) {
      reinterpret_cast<std::byte*>(shared.payload)[bytes + threadIdx.x] = std::byte{0};
    }
    return bytes;
  }
  flag = kRawChunk;
  __syncthreads();
  gather_in<CoderWord<Coder>>(shared.payload, piece);
  return piece.bytes;
}

// One chunk: encoded, placed, written. True for all threads of the last block that has looked back.
template <typename Coder>
__device__ bool encode_chunk(const EncodeJob& job, std::uint64_t index, std::uint64_t parameter,
                             VariableState* state, ScanWord* words, VariableShared<Coder>& shared) {
  std::uint32_t flag = 0;
  const Piece piece = piece_of(job.layout, index, job.source);
  const std::uint32_t bytes = make_payload<Coder>(piece, parameter, shared, flag);
  if (threadIdx.x == 0) say(words, index, kAdds, bytes);
  __syncthreads();
  if (threadIdx.x < 32) {
    const std::uint64_t before = look_back(words, index);
    if (threadIdx.x == 0) {
      say(words, index, kSum, before + bytes);
      shared.offset = before;
      // The size is known now; what reads the frame comes later in the stream.
      if (index + 1 == job.layout.chunks) {
        frame::HeaderWords header = job.header;
        header.word[frame::kParameterWord] = parameter;
        end_frame(header, job.layout.table_bytes() + before + bytes, job.limit, job.frame,
                  job.outcome);
      }
      // Nobody reads the words any more once all have come this far.
      __threadfence();
      shared.is_last = atomicInc(&state->arrived, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  if (job.checksums) {
    sum_over_warp(sum_of_payload<Coder::kThreads>(shared.payload, (bytes + 7) / 8), shared.sums);
  }
  __syncthreads();
  std::byte* const table = job.frame + job.header.bytes();
  copy_out(table + job.layout.table_bytes() + shared.offset, shared.payload, bytes);
  if (threadIdx.x == 0) {
    const std::uint64_t sum = job.checksums ? checksum_finish(bytes, sum_of_warps(shared.sums)) : 0;
    store_word(table + index * kTableRowBytes, sum << 32 | flag | bytes);
  }
  return shared.is_last;
}

template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads)
    encode_variable(const __grid_constant__ EncodeJob job, const bool open) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  auto& shared = *reinterpret_cast<VariableShared<Coder>*>(shared_words);
  auto* const state = reinterpret_cast<VariableState*>(job.workspace);
  auto* const words = reinterpret_cast<ScanWord*>(job.workspace + sizeof(VariableState));
  const std::uint64_t parameter = open ? state->parameter : job.parameter;
  if (job.layout.chunks == 0) {
    frame::HeaderWords header = job.header;
    header.word[frame::kParameterWord] = parameter;
    if (threadIdx.x == 0) end_frame(header, 0, job.limit, job.frame, job.outcome);
    return;
  }
  if (!encode_chunk<Coder>(job, blockIdx.x, parameter, state, words, shared)) return;
  for (std::uint64_t at = threadIdx.x; at < job.layout.chunks; at += Coder::kThreads) words[at] = 0;
}

// The bytes of the payloads before chunk `index`, for all threads.
template <typename Coder>
__device__ std::uint64_t bytes_before(const std::byte* table, std::uint64_t index,
                                      VariableShared<Coder>& shared) {
  std::uint64_t bytes = 0;
#pragma unroll 4
  for (std::uint64_t row = threadIdx.x; row < index; row += Coder::kThreads) {
    bytes += load_word(table + row * kTableRowBytes) & ~std::uint64_t{kRawChunk} & 0xffffffffu;
  }
  return sum_over_block(bytes, shared.sums);
}

// Decodes the chunk whose payload is at `payload`; `row` is its row of the chunk table. False, for
// all threads, where that cannot be done, and in thread 0 where the checksum is another. Ends with
// a barrier.
template <typename Coder, typename Sink>
__device__ bool decode_chunk(const DecodeJob& job, std::uint64_t index, std::uint64_t parameter,
                             std::uint64_t row, const std::byte* payload, const Sink& sink,
                             VariableShared<Coder>& shared) {
  const auto bytes = static_cast<std::uint32_t>(row) & ~kRawChunk;
  const bool is_raw = (row & kRawChunk) != 0;
  const Target target = piece_of(job.layout, index, job.destination);
  if (is_raw && bytes != target.bytes) return false;
  copy_in(shared.payload, payload, bytes);
  __syncthreads();
  if (job.checksums) {
    sum_over_warp(sum_of_payload<Coder::kThreads>(shared.payload, (bytes + 7) / 8), shared.sums);
  }
  bool decoded = true;
  if (is_raw) {
    scatter_out(sink, target, shared.payload);
  } else {
    decoded = Coder::decode(shared.payload, bytes, target, parameter, shared.state, sink);
  }
  __syncthreads();
  if (threadIdx.x != 0 || !job.checksums) return decoded;
  const std::uint64_t sum = checksum_finish(bytes, sum_of_warps(shared.sums));
  return decoded && static_cast<std::uint32_t>(sum) == row >> 32;
}

// Decodes the chunks from `first` to `end`; false in thread 0 where one is damaged.
template <typename Coder, typename Sink>
__device__ bool decode_range(const DecodeJob& job, std::uint64_t parameter, std::uint64_t first,
                             std::uint64_t end, const Sink& sink, VariableShared<Coder>& shared) {
  const std::uint64_t head = job.header.bytes() + job.layout.table_bytes();
  if (job.length < head || first == end) return job.length >= head;
  const std::byte* const table = job.frame + job.header.bytes();
  const std::uint64_t available = job.length - head;
  std::uint64_t row = load_word(table + first * kTableRowBytes);
  std::uint64_t offset = bytes_before(table, first, shared);
  bool sound = true;
  for (std::uint64_t index = first;;) {
    const std::uint32_t bytes = static_cast<std::uint32_t>(row) & ~kRawChunk;
    // Not worth going on for: where it ends, and the next one begins, is not known.
    if (bytes > Coder::kPayloadBytes || offset > available || bytes > available - offset) {
      return false;
    }
    sound &=
        decode_chunk<Coder>(job, index, parameter, row, job.frame + head + offset, sink, shared);
    if (++index == end) return sound;
    row = load_word(table + index * kTableRowBytes);
    offset += bytes;
  }
}

// Whether the header is the expected one and the payloads fill the body to its end; the status, in
// thread 0.
template <typename Coder>
__device__ StatusCode check_frame(const DecodeJob& job, bool open, VariableShared<Coder>& shared) {
  if (job.length < job.header.bytes() + job.layout.table_bytes()) return StatusCode::kDamaged;
  const std::uint64_t payloads =
      bytes_before(job.frame + job.header.bytes(), job.layout.chunks, shared);
  if (threadIdx.x != 0) return StatusCode::kOk;
  std::uint64_t body = 0;
  const StatusCode status = check_header(job.frame, job.length, job.header, open, &body);
  if (status != StatusCode::kOk) return status;
  return body == job.layout.table_bytes() + payloads ? StatusCode::kOk : StatusCode::kDamaged;
}

// The last thread block looks at the frame as a whole; the others have a run of chunks each, so
// that they sum up the table once. Under an open parameter the frame's own counts, unchecked: a
// coder of such must be safe under any.
template <typename Coder, typename Sink>
__global__ void __launch_bounds__(Coder::kThreads)
    decode_variable(const __grid_constant__ DecodeJob job, const bool open, const Sink sink) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  auto& shared = *reinterpret_cast<VariableShared<Coder>*>(shared_words);
  auto* const state = reinterpret_cast<VariableState*>(job.workspace);
  StatusCode status = StatusCode::kOk;
  const std::uint64_t blocks = gridDim.x - 1;
  const std::uint64_t block = blockIdx.x;
  if (block == blocks) {
    status = check_frame<Coder>(job, open, shared);
  } else {
    const bool has_header = job.length >= job.header.bytes();
    const std::uint64_t parameter =
        open && has_header ? load_word(job.frame + 8 * frame::kParameterWord) : job.parameter;
    const std::uint64_t each = job.layout.chunks / blocks;
    const std::uint64_t more = job.layout.chunks % blocks;
    const std::uint64_t first = block * each + (block < more ? block : more);
    const std::uint64_t end = first + each + (block < more ? 1 : 0);
    if (!decode_range<Coder>(job, parameter, first, end, sink, shared)) {
      status = StatusCode::kDamaged;
    }
  }
  if (threadIdx.x == 0 && status != StatusCode::kOk) {
    atomicMax(&state->status, static_cast<unsigned>(status));
  }
  if (!arrives_last(&state->arrived, gridDim.x) || threadIdx.x != 0) return;
  publish_with_writes(job.outcome, static_cast<StatusCode>(atomicExch(&state->status, 0u)), 0);
}

}  // namespace thinwire::codec::cuda
