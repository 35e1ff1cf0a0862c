// Looking at a frame before nvCOMP does: the kernel that checks everything and says what nvCOMP may
// see of each chunk.
#pragma once

#include "codec/cuda/frame_end.cuh"
#include "codec/job.h"
#include "codec/nvcomp/batch.h"
#include "codec/nvcomp/copy_sum.cuh"

namespace thinwire::codec::nvcomp {

struct Decode {
  Batch batch;
  std::uint64_t chunks, chunk_bytes, array_bytes, slot_bytes;
  std::uint32_t alignment;  // that nvCOMP wants of payloads
  std::uint32_t unit;       // payloads are multiples of it, but for
  std::uint32_t lead;       // what the first one has in front
  bool counted;             // nvCOMP is given the good chunks alone
  std::byte* destination;   // of nvCOMP's
};

__device__ inline void meet(const Decode& work, StatusCode status) {
  atomicMax(&work.batch.state->status, static_cast<unsigned>(status));
}

// The sizes of the payloads before row `index`, for all threads.
__device__ inline std::uint64_t bytes_before(const std::byte* table, std::uint64_t index,
                                             std::uint64_t* scratch) {
  std::uint64_t bytes = 0;
  for (std::uint64_t row = threadIdx.x; row < index; row += kThreads) {
    bytes += cuda::load_word(table + row * kTableRowBytes) & (kRawChunk - 1);
  }
  const std::uint64_t sum = cuda::sum_over_block(bytes, scratch);
  __syncthreads();
  return sum;
}

// Makes nvCOMP's entry for a chunk; one with nothing to read and no room to write if nvCOMP must
// not touch it.
__device__ inline void give(const Decode& work, std::uint64_t index, const std::byte* payload,
                            std::uint32_t bytes, std::uint32_t raw, bool gives) {
  if (work.counted && !gives) return;
  const std::uint64_t entry = work.counted ? atomicAdd(&work.batch.state->entries, 1u) : index;
  work.batch.sources[entry] = gives ? payload : work.batch.slots;
  work.batch.source_bytes[entry] = gives ? bytes : 0;
  work.batch.targets[entry] = work.destination + index * work.chunk_bytes;
  work.batch.target_bytes[entry] = gives ? raw : 0;
}

// Checks one chunk whose payload is known to lie in the frame, and copies what is to be copied. For
// whole thread blocks; true, in thread 0, if the chunk is sound.
__device__ inline bool take_chunk(const Decode& work, std::uint64_t index, std::uint64_t row,
                                  const std::byte* payload, std::uint64_t* scratch) {
  const std::uint64_t left = work.array_bytes - index * work.chunk_bytes;
  const auto raw = static_cast<std::uint32_t>(left < work.chunk_bytes ? left : work.chunk_bytes);
  const auto bytes = static_cast<std::uint32_t>(row) & ~kRawChunk;
  const bool is_raw = (row & kRawChunk) != 0;
  const std::uint32_t lead = index == 0 && !is_raw ? work.lead : 0;
  bool sound =
      is_raw ? bytes == raw : bytes > lead && bytes < raw && (bytes - lead) % work.unit == 0;
  const std::byte* source = payload + lead;
  if (sound) {
    std::byte* copy = nullptr;
    if (is_raw) {
      copy = work.destination + index * work.chunk_bytes;
    } else if (reinterpret_cast<std::uintptr_t>(source) % work.alignment != 0) {
      copy = work.batch.slots + index * work.slot_bytes - lead;
      source = copy + lead;
    }
    const std::uint64_t part = copy_and_sum(payload, copy, bytes, bytes);
    const std::uint64_t sum = checksum_finish(bytes, cuda::sum_over_block(part, scratch));
    sound = static_cast<std::uint32_t>(sum) == row >> 32;
    __syncthreads();
  }
  if (threadIdx.x == 0) give(work, index, source, bytes - lead, raw, sound && !is_raw);
  return sound;
}

// The chunks from `first` to `end`, of which nvCOMP gets the sound ones.
__device__ inline StatusCode take_range(const DecodeJob& job, const Decode& work,
                                        std::uint64_t first, std::uint64_t end,
                                        std::uint64_t* scratch) {
  const std::uint64_t head = job.header.bytes() + job.layout.table_bytes();
  const bool has_table = job.length >= head;
  const std::byte* const table = job.frame + job.header.bytes();
  std::uint64_t offset = has_table ? bytes_before(table, first, scratch) : 0;
  StatusCode status = has_table ? StatusCode::kOk : StatusCode::kDamaged;
  for (std::uint64_t index = first; index < end; ++index) {
    const std::uint64_t row = has_table ? cuda::load_word(table + index * kTableRowBytes) : 0;
    const std::uint64_t bytes = row & (kRawChunk - 1);
    const std::uint64_t available = has_table ? job.length - head : 0;
    if (offset > available || bytes > available - offset) {
      // The chunk's end, where the next one begins, is not known.
      status = StatusCode::kDamaged;
      offset = UINT64_MAX;
      if (threadIdx.x == 0) give(work, index, nullptr, 0, 0, false);
      continue;
    }
    if (!take_chunk(work, index, row, job.frame + head + offset, scratch)) {
      status = StatusCode::kDamaged;
    }
    offset += bytes;
  }
  return status;
}

// Whether the header is the expected one and the payloads fill the body; the status, in thread 0.
__device__ inline StatusCode check_frame(const DecodeJob& job, std::uint64_t* scratch) {
  if (job.length < job.header.bytes() + job.layout.table_bytes()) return StatusCode::kDamaged;
  const std::uint64_t payloads =
      bytes_before(job.frame + job.header.bytes(), job.layout.chunks, scratch);
  return threadIdx.x == 0 ? cuda::frame_status(job, job.frame, false, payloads) : StatusCode::kOk;
}

// Each thread block has a run of chunks, so that it sums up the table once; the last looks at the
// frame as a whole.
__global__ void __launch_bounds__(kThreads, cuda::resident(kThreads, kResident))
    look(const __grid_constant__ DecodeJob job, const Decode work) {
  __shared__ std::uint64_t scratch[kThreads / 32];
  const std::uint64_t blocks = gridDim.x - 1;
  const std::uint64_t block = blockIdx.x;
  StatusCode status = StatusCode::kOk;
  if (block == blocks) {
    status = check_frame(job, scratch);
  } else {
    const std::uint64_t each = work.chunks / blocks;
    const std::uint64_t more = work.chunks % blocks;
    const std::uint64_t first = block * each + (block < more ? block : more);
    status = take_range(job, work, first, first + each + (block < more ? 1 : 0), scratch);
  }
  if (threadIdx.x == 0 && status != StatusCode::kOk) meet(work, status);
}

}  // namespace thinwire::codec::nvcomp
