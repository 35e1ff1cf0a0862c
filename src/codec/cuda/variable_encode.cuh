// The encode kernel of variable_frame.cuh.
//
// Thread blocks take chunks in order, by ticket, so that those waited for are being worked on.
// Where a chunk's payload goes is known after all before it are encoded; a block does not wait for
// that but encodes its next chunk first, if it has room for two payloads, or prepares it, if the
// coder can, and writes the one before when that is done. The first block does nothing but add up
// the sizes.
#pragma once

#include "codec/cuda/bring_near.cuh"
#include "codec/cuda/encode_chunk.cuh"
#include "slot/seal.cuh"

namespace thinwire::codec::cuda {

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
      bring_chunk_near<Coder>(job, at, next);
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

// The same by a coder with Prepared: the next chunk is prepared while others say the sizes before
// the one that is to be written. One payload is enough for that.
template <typename Coder>
__device__ void encode_prepared_chunks(const EncodeJob& job, const BlockPlace& at,
                                       std::uint64_t parameter, EncodeShared<Coder>& shared) {
  const std::uint64_t chunks = job.layout.chunks;
  const Tickets tickets(at.workspace, chunks);
  std::uint64_t index = tickets.first(shared.next);
  typename Coder::Prepared prepared{};
  Pending made{};
  bool is_pending = false;
  for (;;) {
    const bool has_next = index < chunks;
    Piece piece{};
    if (has_next) {
      piece = piece_of<sizeof(CoderWord<Coder>)>(job.layout, index, at.from);
      prepared = Coder::prepare(piece, parameter, shared.state);
    }
    if (is_pending) write_chunk<Coder>(job, at, made, shared.payload[0], shared);
    if (!has_next) return;
    __syncthreads();
    std::uint64_t next = 0;
    if (threadIdx.x == 0) {
      next = tickets.next();
      bring_chunk_near<Coder>(job, at, next);
    }
    const std::uint32_t bytes =
        Coder::encode(piece, prepared, shared.payload[0], parameter, shared.state);
    made = fill_up<CoderWord<Coder>>(piece, index, bytes, shared.payload[0]);
    is_pending = true;
    if (threadIdx.x == 0) {
      say(words_of(at.workspace), index, kAdds, made.bytes);
      shared.next = next;
      if (tickets.one_each()) count_encoded(job, at, parameter, made.bytes);
    }
    __syncthreads();
    index = shared.next;
  }
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
    } else if constexpr (requires { typename Coder::Prepared; }) {
      encode_prepared_chunks<Coder>(job, at, parameter, shared);
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
