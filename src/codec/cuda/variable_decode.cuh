// The decode kernel of variable_frame.cuh.
//
// While a thread block decodes one chunk the payload of its next is on its way to shared memory,
// where there is room for two; else it is known by then where that payload lies.
// The first block of a long frame adds up the sizes in the chunk table; of a short one every block
// does so for itself.
#pragma once

#include "codec/cuda/bring_near.cuh"
#include "codec/cuda/variable_frame.cuh"

namespace thinwire::codec::cuda {

// Frames of no more chunks have tables that are added up faster than anybody can say the sum.
template <typename Coder>
inline constexpr std::uint64_t kShortTable = 2 * Coder::kThreads;

// The payload's size by a row of the chunk table, at most as large as a payload can be. If the row
// says more, the thread block that has the chunk reports damage.
template <typename Coder>
__device__ std::uint32_t size_of_row(std::uint64_t row) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(row) & ~kRawChunk;
  return bytes < Coder::kPayloadBytes ? bytes : Coder::kPayloadBytes;
}

// Says the sums of the sizes of all chunks, for whole thread blocks; the last sum, for all threads.
template <typename Coder>
__device__ std::uint64_t scan_table(const std::byte* table, std::uint64_t chunks, ScanWord* words,
                                    DecodeShared<Coder>& shared) {
  constexpr std::uint64_t kStep = Coder::kThreads * kWordsOfLane;
  std::uint64_t before = 0;
  for (std::uint64_t base = 0; base < chunks; base += kStep) {
    const std::uint64_t first = base + threadIdx.x * kWordsOfLane;
    std::uint32_t size[kWordsOfLane];
    std::uint64_t own = 0;
#pragma unroll
    for (int at = 0; at < kWordsOfLane; ++at) {
      const std::uint64_t row = first + at;
      size[at] = row < chunks ? size_of_row<Coder>(load_word(table + row * kTableRowBytes)) : 0;
      own += size[at];
    }
    const auto sums = sum_before_thread<Coder::kThreads>(own, shared.sums);
    std::uint64_t running = before + sums.before;
    before += sums.total;
#pragma unroll
    for (int at = 0; at < kWordsOfLane; ++at) {
      running += size[at];
      if (words != nullptr && first + at < chunks) say(words, first + at, kSum, running);
    }
    __syncthreads();
  }
  return before;
}

// A chunk that a thread block is to decode.
struct Arriving {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::uint64_t index;
  std::uint64_t row;     // of the chunk table
  std::uint64_t offset;  // of its payload in the frame; kNowhere if it does not lie in there

  __device__ std::uint32_t bytes() const { return static_cast<std::uint32_t>(row) & ~kRawChunk; }
  __device__ bool is_raw() const { return (row & kRawChunk) != 0; }
  __device__ std::uint32_t sum() const { return static_cast<std::uint32_t>(row >> 32); }
};

// The offset in the frame of a payload that lies so many bytes after the first one's beginning.
template <typename Coder>
__device__ std::uint64_t offset_in_frame(const DecodeJob& job, std::uint32_t bytes,
                                         std::uint64_t offset) {
  const std::uint64_t head = job.header.bytes() + job.layout.table_bytes();
  const std::uint64_t available = job.length - head;
  const bool is_inside =
      bytes <= Coder::kPayloadBytes && offset <= available && bytes <= available - offset;
  return is_inside ? head + offset : Arriving::kNowhere;
}

// For whole thread blocks; has barriers.
template <typename Coder>
__device__ Arriving find_chunk(const DecodeJob& job, const BlockPlace& at, std::uint64_t index,
                               DecodeShared<Coder>& shared) {
  const std::uint64_t chunks = job.layout.chunks;
  Arriving chunk{.index = index, .row = 0, .offset = Arriving::kNowhere};
  if (index >= chunks) return chunk;
  const std::byte* const table = at.from + job.header.bytes();
  chunk.row = load_word(table + index * kTableRowBytes);
  std::uint64_t offset = 0;
  if (chunks <= kShortTable<Coder>) {
    for (std::uint64_t row = threadIdx.x; row < index; row += Coder::kThreads) {
      offset += size_of_row<Coder>(load_word(table + row * kTableRowBytes));
    }
    offset = sum_over_block(offset, shared.sums);
  } else {
    if (threadIdx.x == 0) {
      const ScanWord* const words = words_of(at.workspace);
      shared.offset = await_sum(words, index) - size_of_row<Coder>(chunk.row);
    }
    __syncthreads();
    offset = shared.offset;
  }
  chunk.offset = offset_in_frame<Coder>(job, chunk.bytes(), offset);
  return chunk;
}

// Starts to copy its payload.
__device__ inline void start_payload(const BlockPlace& at, const Arriving& chunk,
                                     std::uint64_t* payload) {
  if (chunk.offset != Arriving::kNowhere) {
    start_copy_in(payload, at.from + chunk.offset, chunk.bytes());
  }
  __pipeline_commit();
}

// Decodes a chunk whose payload is there. False, for all threads, if that cannot be done, and in
// thread 0 if the checksum is another. Ends with a barrier.
template <typename Coder, typename Sink>
__device__ bool decode_chunk(const DecodeJob& job, const BlockPlace& at, const Arriving& chunk,
                             std::uint64_t parameter, std::uint64_t* payload, const Sink& sink,
                             DecodeShared<Coder>& shared) {
  const Target target = piece_of<sizeof(CoderWord<Coder>)>(job.layout, chunk.index, at.to);
  const std::uint32_t bytes = chunk.bytes();
  const bool has_length = chunk.is_raw() ? bytes == target.bytes : bytes <= target.bytes;
  if (chunk.offset == Arriving::kNowhere || !has_length) return false;
  if (job.checksums) {
    sum_over_warp(sum_of_words<Coder::kThreads>(payload, (bytes + 7) / 8), shared.sums);
  }
  bool decoded = true;
  if (chunk.is_raw()) {
    scatter_out(sink, target, payload);
  } else {
    decoded = Coder::decode(payload, bytes, target, parameter, shared.state, sink);
  }
  __syncthreads();
  if (threadIdx.x != 0 || !job.checksums) return decoded;
  const std::uint64_t sum = checksum_finish(bytes, sum_of_warps(shared.sums));
  return decoded && static_cast<std::uint32_t>(sum) == chunk.sum();
}

// Chunks until there are no more; false in thread 0 if one is damaged.
template <typename Coder, typename Sink>
__device__ bool decode_chunks(const DecodeJob& job, const BlockPlace& at, std::uint64_t parameter,
                              const Sink& sink, DecodeShared<Coder>& shared) {
  const Tickets tickets(at.workspace, job.layout.chunks);
  constexpr int kPayloads = decode_payloads<Coder>(kPayloadsHere);
  bool sound = true;
  int side = 0;
  Arriving chunk = find_chunk<Coder>(job, at, tickets.first(shared.next), shared);
  start_payload(at, chunk, shared.payload[side]);
  while (chunk.index < job.layout.chunks) {
    const Arriving next = find_chunk<Coder>(job, at, tickets.next_for_all(shared.next), shared);
    if constexpr (kPayloads > 1) {
      start_payload(at, next, shared.payload[side ^ 1]);
    } else if (threadIdx.x == 0 && next.offset != Arriving::kNowhere) {
      bring_near(at.from + next.offset, next.bytes());
    }
    bring_target_near<Coder, Sink>(job, at, next.index);
    __pipeline_wait_prior(kPayloads - 1);
    __syncthreads();
    sound &= decode_chunk<Coder>(job, at, chunk, parameter, shared.payload[side], sink, shared);
    __syncthreads();
    if constexpr (kPayloads > 1) {
      side ^= 1;
    } else {
      start_payload(at, next, shared.payload[side]);
    }
    chunk = next;
  }
  return sound;
}

// The header, and whether the payloads fill the body to its end; by the first thread block, for its
// first thread. Says the sums of their sizes, but for `words` of nullptr.
template <typename Coder>
__device__ StatusCode check_frame(const DecodeJob& job, const BlockPlace& at, bool open,
                                  ScanWord* words, DecodeShared<Coder>& shared) {
  const bool has_table = job.length >= job.header.bytes() + job.layout.table_bytes();
  std::uint64_t payloads = 0;
  if (has_table) {
    payloads = scan_table(at.from + job.header.bytes(), job.layout.chunks, words, shared);
  }
  // A body that has no room for the table is filled by no payloads.
  return threadIdx.x == 0 ? frame_status(job, at.from, open, payloads) : StatusCode::kOk;
}

// The status to report. The header's comes before those of the chunks: the bytes may be anybody's.
__device__ inline StatusCode most_telling(unsigned statuses) {
  for (const StatusCode status : {StatusCode::kNotAFrame, StatusCode::kDamaged}) {
    if ((statuses >> static_cast<unsigned>(status) & 1) != 0) return status;
  }
  return StatusCode::kOk;
}

// A thread block's dynamic shared memory.
template <typename Shared>
__device__ Shared& shared_of_block() {
  extern __shared__ __align__(16) std::uint64_t shared_words[];
  return *reinterpret_cast<Shared*>(shared_words);
}

// All of a frame, by a layer of the grid. Under an open parameter the frame's own counts,
// unchecked: a coder of such must be safe under any.
template <typename Coder, typename Sink>
__device__ void decode_frame(const DecodeJob& job, const BlockPlace& at, bool open,
                             const Sink& sink) {
  auto& shared = shared_of_block<DecodeShared<Coder>>();
  VariableState* const state = state_of(at.workspace);
  StatusCode status = StatusCode::kOk;
  if (blockIdx.x == 0) {
    const bool is_short = job.layout.chunks <= kShortTable<Coder>;
    status = check_frame<Coder>(job, at, open, is_short ? nullptr : words_of(at.workspace), shared);
  } else if (job.length >= job.header.bytes() + job.layout.table_bytes()) {
    const std::uint64_t parameter =
        open ? load_word(at.from + 8 * frame::kParameterWord) : job.parameter;
    if (!decode_chunks<Coder>(job, at, parameter, sink, shared)) status = StatusCode::kDamaged;
  }
  if (threadIdx.x == 0 && status != StatusCode::kOk) {
    atomicOr(&state->statuses, 1u << static_cast<unsigned>(status));
  }
  if (!ends_grid(at.workspace, job.layout.chunks) || threadIdx.x != 0) return;
  publish_with_writes(at.outcome, most_telling(atomicExch(&state->statuses, 0u)), 0);
}

template <typename Coder, typename Sink>
__global__ void __launch_bounds__(Coder::kThreads, resident_decode_blocks<Coder>())
    decode_variable(const __grid_constant__ DecodeJob job, const bool open, const Sink sink) {
  decode_frame<Coder>(job, place_of(job), open, sink);
}

template <typename Coder, typename Sink>
__global__ void __launch_bounds__(Coder::kThreads, resident_decode_blocks<Coder>())
    decode_variable_blocks(const __grid_constant__ DecodeJob job,
                           const __grid_constant__ Blocks blocks, const Sink sink) {
  decode_frame<Coder>(job, place_of(job, blocks), false, sink);
}

}  // namespace thinwire::codec::cuda
