// The decode kernel of frames that were made with mode=fixed. A thread block takes the payloads of
// fixed_payload.cuh from memory to registers; other chunks are decoded as in variable_decode.cuh.
// It finds the next chunk while it decodes one, and asks for its payload to be brought near.
#pragma once

#include "codec/expack/fixed_scout.cuh"

namespace thinwire::codec::expack {

// Whether the payload may be one of fixed_payload.cuh, by its row of the chunk table. The values
// are an array of one axis.
template <typename Coder>
__device__ bool may_be_fixed(const DecodeJob& job, const cuda::BlockPlace& at,
                             const cuda::Arriving& chunk) {
  using Payload = FixedPayload<Coder::kDtype>;
  const std::uint32_t bytes = chunk.bytes();
  return chunk.offset != cuda::Arriving::kNowhere && !chunk.is_raw() &&
         bytes >= Payload::kParts.raw && bytes <= kChunkBytes && bytes % 8 == 0 &&
         (chunk.index + 1) * Payload::kValues <= job.layout.axes.x &&
         reinterpret_cast<std::uintptr_t>(at.to) % 16 == 0 &&
         cuda::is_aligned<std::uint64_t>(at.from + chunk.offset);
}

enum class FixedResult { kSound, kDamaged, kOther };

// Decodes the chunk of a turn in registers, and finds the next one. kOther, for all threads, if
// that is not possible; kDamaged for those that see it. Has a barrier.
template <typename Coder, typename Sink>
__device__ FixedResult decode_in_registers(const DecodeJob& job, const cuda::BlockPlace& at,
                                           unsigned turn, const Sink& sink,
                                           const FixedScout<Coder>& scout,
                                           FixedShared<Coder>& shared) {
  const cuda::Arriving& chunk = shared.of_turn(turn);
  scout.look(shared);
  if (!may_be_fixed<Coder>(job, at, chunk)) {
    scout.find(shared, shared.of_turn(turn + 1));
    __syncthreads();
    return FixedResult::kOther;
  }
  const auto* const payload = reinterpret_cast<const std::uint64_t*>(at.from + chunk.offset);
  std::uint64_t* const raw = shared.room().raw[turn % 2];
  FixedStretch<Coder::kDtype> stretch(payload, chunk.bytes());
  const std::uint64_t sum = stretch.take(payload, job.checksums, raw, shared.room());
  if (job.checksums) cuda::sum_over_warp(sum, shared.sums[turn % 2]);
  scout.find(shared, shared.of_turn(turn + 1));
  if (__syncthreads_and(stretch.is_fixed()) == 0) return FixedResult::kOther;
  const auto ticket = scout.ask();
  if (stretch.is_sound()) {
    stretch.put(raw, shared.room(), at.to + chunk.index * kChunkBytes, sink);
  }
  scout.keep(ticket, shared);
  if (!stretch.is_sound()) return FixedResult::kDamaged;
  if (threadIdx.x != 0 || !job.checksums) return FixedResult::kSound;
  const std::uint64_t all =
      checksum_finish(chunk.bytes(), cuda::sum_of_warps(shared.sums[turn % 2]));
  const bool is_same = static_cast<std::uint32_t>(all) == chunk.sum();
  return is_same ? FixedResult::kSound : FixedResult::kDamaged;
}

// Decodes the chunk of a turn in shared memory, and all that the thread block has after it; false,
// in any thread, if one is damaged. The next one is found already.
template <typename Coder, typename Sink>
__device__ bool decode_others(const DecodeJob& job, const cuda::BlockPlace& at, unsigned turn,
                              const Sink& sink, const FixedScout<Coder>& scout,
                              FixedShared<Coder>& shared) {
  std::uint64_t* const payload = shared.whole.payload[0];
  bool sound = true;
  bool has_next = true;
  for (; job.layout.chunks > shared.of_turn(turn).index; ++turn) {
    const cuda::Arriving chunk = shared.of_turn(turn);
    cuda::start_payload(at, chunk, payload);
    if (!has_next) {
      scout.look(shared);
      scout.find(shared, shared.of_turn(turn + 1));
    }
    has_next = false;
    scout.keep(scout.ask(), shared);
    __pipeline_wait_prior(0);
    __syncthreads();
    sound &= cuda::decode_chunk<Coder>(job, at, chunk, job.parameter, payload, sink, shared.whole);
    __syncthreads();
  }
  return sound;
}

// Chunks until there are no more; false, in any thread, if one is damaged. A thread block that has
// met a chunk that does not fit registers decodes all others in shared memory: in one loop, the two
// would need the registers of both.
template <typename Coder, typename Sink>
__device__ bool decode_fixed_chunks(const DecodeJob& job, const cuda::BlockPlace& at,
                                    const Sink& sink, FixedShared<Coder>& shared) {
  const FixedScout<Coder> scout(job, at.from, at.workspace);
  const auto ticket = scout.ask();
  find_first_chunk<Coder>(job, at.from, shared);
  scout.keep(ticket, shared);
  bool sound = true;
  unsigned turn = 0;
  while (job.layout.chunks > shared.of_turn(turn).index) {
    const FixedResult result = decode_in_registers<Coder>(job, at, turn, sink, scout, shared);
    if (result == FixedResult::kOther) {
      return decode_others<Coder>(job, at, turn, sink, scout, shared) && sound;
    }
    sound &= result == FixedResult::kSound;
    ++turn;
  }
  return sound;
}

// All of a frame, by a layer of the grid.
template <typename Coder, typename Sink>
__device__ void decode_fixed_frame(const DecodeJob& job, const cuda::BlockPlace& at,
                                   const Sink& sink) {
  auto& shared = cuda::shared_of_block<FixedShared<Coder>>();
  const std::uint64_t chunks = job.layout.chunks;
  cuda::VariableState* const state = cuda::state_of(at.workspace);
  StatusCode status = StatusCode::kOk;
  if (blockIdx.x == 0) {
    const bool has_others = !cuda::Tickets(at.workspace, chunks).one_each();
    cuda::ScanWord* const words = has_others ? cuda::words_of(at.workspace) : nullptr;
    status = cuda::check_frame<Coder>(job, at, false, words, shared.whole);
  } else if (job.length >= job.header.bytes() + job.layout.table_bytes()) {
    if (!decode_fixed_chunks<Coder>(job, at, sink, shared)) status = StatusCode::kDamaged;
  }
  if (status != StatusCode::kOk) {
    atomicOr(&state->statuses, 1u << static_cast<unsigned>(status));
  }
  if (!cuda::ends_grid(at.workspace, chunks) || threadIdx.x != 0) return;
  const StatusCode told = cuda::most_telling(atomicExch(&state->statuses, 0u));
  cuda::publish_with_writes(at.outcome, told, 0);
}

template <typename Coder, typename Sink>
__global__ void __launch_bounds__(Coder::kThreads, cuda::resident_decode_blocks<Coder>())
    decode_fixed(const __grid_constant__ DecodeJob job, const Sink sink) {
  decode_fixed_frame<Coder>(job, cuda::place_of(job), sink);
}

template <typename Coder, typename Sink>
__global__ void __launch_bounds__(Coder::kThreads, cuda::resident_decode_blocks<Coder>())
    decode_fixed_blocks(const __grid_constant__ DecodeJob job,
                        const __grid_constant__ Blocks blocks, const Sink sink) {
  decode_fixed_frame<Coder>(job, cuda::place_of(job, blocks), sink);
}

}  // namespace thinwire::codec::expack
