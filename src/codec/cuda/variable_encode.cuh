// The encode kernel of variable_frame.cuh.
//
// Thread blocks take chunks in order, by ticket, so that those waited for are being worked on.
// Where a chunk's payload goes is known after all before it are encoded; a block does not wait for
// that but encodes its next chunk first, and writes the one before when that is done, if it has
// room for two payloads. The first block does nothing but add up the sizes.
#pragma once

#include "codec/cuda/copy.cuh"
#include "codec/cuda/variable_frame.cuh"
#include "slot/seal.cuh"

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

// The values of a chunk become its payload, or are taken as they are where that is not smaller.
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
  if (bytes < piece.bytes) {
    if (threadIdx.x < (8 - bytes % 8) % 8) {
      reinterpret_cast<std::byte*>(payload)[bytes + threadIdx.x] = std::byte{0};
    }
    return {index, bytes, 0};
  }
  __syncthreads();
  gather_in<CoderWord<Coder>>(payload, piece);
  return {index, piece.bytes, kRawChunk};
}

// Writes a chunk to its place, if that is in the frame's room. Has a barrier before the copy, which
// completes the payload.
template <typename Coder>
__device__ void write_chunk(const EncodeJob& job, const BlockPlace& at, const Pending& chunk,
                            const std::uint64_t* payload, EncodeShared<Coder>& shared) {
  ScanWord* const words = words_of(at.workspace);
  if constexpr (requires { Coder::kLooksBack; }) {
    if (threadIdx.x < 32) {
      const std::uint64_t before = look_back(words, chunk.index, chunk.bytes);
      if (threadIdx.x == 0) shared.offset = before;
    }
  } else if (threadIdx.x == 0) {
    shared.offset = await_sum(words, chunk.index) - chunk.bytes;
  }
  if (job.checksums) {
    sum_over_warp(sum_of_words<Coder::kThreads>(payload, (chunk.bytes + 7) / 8), shared.sums);
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

// Chunks until there are no more.
template <typename Coder>
__device__ void encode_chunks(const EncodeJob& job, const BlockPlace& at, std::uint64_t parameter,
                              EncodeShared<Coder>& shared) {
  ScanWord* const words = words_of(at.workspace);
  const std::uint64_t chunks = job.layout.chunks;
  const Tickets tickets(at.workspace, chunks);
  std::uint64_t index = tickets.first(shared.next);
  Pending pending{};
  bool is_pending = false;
  int side = 0;
  while (index < chunks) {
    std::uint64_t next = 0;
    if (threadIdx.x == 0) {
      next = tickets.next();
      if constexpr (requires { Coder::kBringsNear; }) {
        if (next < chunks) {
          const Piece ahead = piece_of<sizeof(CoderWord<Coder>)>(job.layout, next, at.from);
          bring_near(ahead.at, ahead.bytes);
        }
      }
    }
    const Pending made =
        make_payload<Coder>(job, at, index, parameter, shared.payload[side], shared);
    if (threadIdx.x == 0) {
      say(words, index, kAdds, made.bytes);
      shared.next = next;
      if (tickets.one_each()) count_encoded(job, at, parameter, made.bytes);
    }
    if constexpr (encode_payloads<Coder>(kPayloadsHere) == 1) {
      __syncthreads();
      write_chunk<Coder>(job, at, made, shared.payload[0], shared);
    } else {
      if (is_pending) write_chunk<Coder>(job, at, pending, shared.payload[side ^ 1], shared);
      pending = made;
      is_pending = true;
      side ^= 1;
    }
    __syncthreads();
    index = shared.next;
  }
  if (is_pending) write_chunk<Coder>(job, at, pending, shared.payload[side ^ 1], shared);
}

// All payloads' bytes, by the warp that works on no chunk.
template <typename Coder>
__device__ std::uint64_t sum_of_payloads(ScanWord* words, std::uint64_t chunks) {
  if constexpr (requires { Coder::kLooksBack; }) {
    return threadIdx.x == 0 && chunks > 0 ? await_sum(words, chunks - 1) : 0;
  } else {
    return scan_sizes(words, chunks);
  }
}

// All of a frame, by a layer of the grid; true for all threads of the thread block that ends it.
template <typename Coder>
__device__ bool encode_frame(const EncodeJob& job, const BlockPlace& at, bool open) {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  auto& shared = *reinterpret_cast<EncodeShared<Coder>*>(shared_words);
  const std::uint64_t parameter = open ? state_of(at.workspace)->parameter : job.parameter;
  if (blockIdx.x != 0) {
    if constexpr (requires { typename Coder::EncodeShared; }) {
      Coder::encode_chunks(job, at, shared);
    } else {
      encode_chunks<Coder>(job, at, parameter, shared);
    }
  } else if (threadIdx.x < 32) {
    const std::uint64_t chunks = job.layout.chunks;
    const std::uint64_t payloads = sum_of_payloads<Coder>(words_of(at.workspace), chunks);
    const bool is_counted = chunks > 0 && Tickets(at.workspace, chunks).one_each();
    if (threadIdx.x == 0 && !is_counted) end_encode(job, at, parameter, payloads);
  }
  return ends_grid(at.workspace, job.layout.chunks);
}

template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads, resident_blocks<Coder>())
    encode_variable(const __grid_constant__ EncodeJob job, const bool open) {
  if (encode_frame<Coder>(job, place_of(job), open) && job.seal.slot.at != nullptr) {
    slot::seal(job.seal);
  }
}

// Seals all slots, one after the other: their values leave by one mailbox.
__device__ inline void seal_blocks(const EncodeJob& job, const Blocks& blocks) {
  for (int at = 0; at < blocks.count; ++at) {
    const Block& block = blocks.at[at];
    slot::ToSeal step = job.seal;
    step.slot.at = block.to - slot::kSlotHeaderBytes;
    step.slot.tag.block = block.number;
    step.slot.chunk.block = block.number;
    step.slot.chunk.rank = block.rank;
    step.slot.outcome = job.outcome + at;
    step.values = block.from;
    slot::seal(step);
    __syncthreads();  // the slot before may still be looked at
  }
}

// The last thread block of the last layer to end seals.
template <typename Coder>
__global__ void __launch_bounds__(Coder::kThreads, resident_blocks<Coder>())
    encode_variable_blocks(const __grid_constant__ EncodeJob job,
                           const __grid_constant__ Blocks blocks) {
  if (!encode_frame<Coder>(job, place_of(job, blocks), false)) return;
  if (job.seal.slot.at == nullptr) return;
  if (arrives_last(&state_of(job.workspace)->layers, gridDim.y)) seal_blocks(job, blocks);
}

}  // namespace thinwire::codec::cuda
