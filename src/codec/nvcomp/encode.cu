// Encode: nvCOMP writes every chunk into a slot of its own, our kernels around it make the frame.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/launch.h"
#include "codec/cuda/warp.cuh"
#include "codec/integers.h"
#include "codec/nvcomp/batch.h"
#include "codec/nvcomp/copy_sum.cuh"
#include "codec/nvcomp/device.h"

namespace thinwire::codec::nvcomp {
namespace {

constexpr int kPlaceThreads = 1024;

struct Encode {
  Batch batch;
  std::uint64_t chunks, chunk_bytes, array_bytes, slot_bytes;
  std::uint32_t unit;  // payloads are filled up to multiples of it
  std::uint32_t lead;  // zeros in front of the first one

  __device__ std::uint32_t raw_bytes(std::uint64_t index) const {
    const std::uint64_t left = array_bytes - index * chunk_bytes;
    return static_cast<std::uint32_t>(left < chunk_bytes ? left : chunk_bytes);
  }
};

// One thread a chunk: what nvCOMP is asked.
__global__ void prepare(const Encode work, const std::byte* source) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index >= work.chunks) return;
  if (index == 0) {
    for (std::uint32_t at = 1; at <= work.lead; ++at) *(work.batch.slots - at) = std::byte{0};
  }
  work.batch.sources[index] = source + index * work.chunk_bytes;
  work.batch.source_bytes[index] = work.raw_bytes(index);
  work.batch.targets[index] = work.batch.slots + index * work.slot_bytes;
}

// The result of a chunk: its payload's size, or the array's bytes if nvCOMP did not shrink them.
struct Coded {
  std::uint32_t bytes;
  bool is_raw;
};

__device__ Coded coded_of(const Encode& work, std::uint64_t index) {
  const std::uint32_t raw = work.raw_bytes(index);
  const std::uint64_t coded = work.batch.result_bytes[index];
  const std::uint64_t filled =
      (index == 0 ? work.lead : 0) + (coded + work.unit - 1) / work.unit * work.unit;
  const bool is_raw = work.batch.codes[index] != kSuccess || coded == 0 || filled >= raw;
  return {static_cast<std::uint32_t>(is_raw ? raw : filled), is_raw};
}

// One thread block: where each payload begins, and with that the frame's size, which the host waits
// for.
__global__ void __launch_bounds__(kPlaceThreads)
    place(const __grid_constant__ EncodeJob job, const Encode work) {
  __shared__ std::uint64_t scratch[kPlaceThreads / 32];
  std::uint64_t begin = 0;
  for (std::uint64_t first = 0; first < work.chunks; first += kPlaceThreads) {
    const std::uint64_t index = first + threadIdx.x;
    const std::uint32_t bytes = index < work.chunks ? coded_of(work, index).bytes : 0;
    const auto sums = cuda::sum_before_thread<kPlaceThreads>(std::uint64_t{bytes}, scratch);
    if (index < work.chunks) work.batch.offsets[index] = begin + sums.before;
    begin += sums.total;
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  if (atomicExch(&work.batch.state->integers, 0u) != 0) {
    cuda::publish(job.outcome, StatusCode::kHoldsIntegers, 0);
  } else {
    cuda::end_frame(job.header, job.layout.table_bytes() + begin, job.limit, job.frame,
                    job.outcome);
  }
}

// One thread block a chunk: its payload, from the slot or from the array, to its place.
__global__ void __launch_bounds__(kThreads, cuda::resident(kThreads, kResident))
    assemble(const __grid_constant__ EncodeJob job, const Encode work, const std::byte* source) {
  __shared__ std::uint64_t sums[kThreads / 32];
  const std::uint64_t index = blockIdx.x;
  const auto [bytes, is_raw] = coded_of(work, index);
  const std::uint32_t lead = index == 0 && !is_raw ? work.lead : 0;
  const std::byte* const from = is_raw ? source + index * work.chunk_bytes
                                       : work.batch.slots + index * work.slot_bytes - lead;
  const auto there =
      is_raw ? bytes : lead + static_cast<std::uint32_t>(work.batch.result_bytes[index]);
  std::byte* const table = job.frame + job.header.bytes();
  std::byte* const to = table + job.layout.table_bytes() + work.batch.offsets[index];
  const std::uint64_t part = copy_and_sum(from, to, there, bytes);
  const std::uint64_t sum = checksum_finish(bytes, cuda::sum_over_block(part, sums));
  if (threadIdx.x == 0) {
    cuda::store_word(table + index * kTableRowBytes, sum << 32 | (is_raw ? kRawChunk : 0u) | bytes);
  }
}

// Whether a value reads as an integer: nvCOMP does not say, so it takes a pass of its own.
__global__ void __launch_bounds__(kThreads)
    look_for_integers(const std::byte* source, const std::uint64_t count, State* state) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * kThreads;
  bool found = false;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < count;
       at += threads) {
    found |= reads_as_integer(cuda::load_word(source + 8 * at));
  }
  if (__syncthreads_or(found) != 0 && threadIdx.x == 0) atomicOr(&state->integers, 1u);
}

// Starts the kernels that come before nvCOMP's own.
Status start_prepare(const EncodeJob& job, const Encode& work, const std::byte* source) {
  constexpr std::uint64_t kMostBlocks = 1056;
  const std::uint64_t blocks = ceil_div(work.chunks, std::uint64_t{kThreads});
  Status prepared = cuda::launch(prepare, {blocks, kThreads}, job.stream, work, source);
  if (!prepared.ok() || !job.declines_integers) return prepared;
  const std::uint64_t count = work.array_bytes / 8;
  return cuda::launch(look_for_integers,
                      {std::clamp<std::uint64_t>(count / kThreads, 1, kMostBlocks), kThreads},
                      job.stream, job.source, count, work.batch.state);
}

__global__ void write_empty(const __grid_constant__ EncodeJob job) {
  cuda::end_frame(job.header, 0, job.limit, job.frame, job.outcome);
}

}  // namespace

Status encode(const Row& row, const EncodeJob& job) {
  auto plan = make_plan(row, job.layout, job.parameter);
  if (!plan.ok()) return plan.status();
  if (!job.checksums) return unchecked(row);
  if (plan->chunks == 0) {
    return cuda::launch(write_empty, {1, 1}, job.stream, job);
  }
  if (plan->chunks > INT32_MAX) return {StatusCode::kUnsupported, "the array has too many chunks"};
  const std::uint32_t unit = payload_unit(row.engine);
  const std::uint64_t head = job.header.bytes() + job.layout.table_bytes();
  const Encode work{.batch = plan->batch(job.workspace),
                    .chunks = plan->chunks,
                    .chunk_bytes = plan->chunk_bytes,
                    .array_bytes = plan->array_bytes,
                    .slot_bytes = plan->slot_bytes,
                    .unit = unit,
                    .lead = payload_lead(unit, head)};
  const std::byte* source = job.source;
  if (reinterpret_cast<std::uintptr_t>(source) % plan->encode_alignments.input != 0) {
    source = work.batch.array;
    const cudaError_t error = cudaMemcpyAsync(work.batch.array, job.source, plan->array_bytes,
                                              cudaMemcpyDefault, job.stream);
    if (error != cudaSuccess) return cuda::launch_status(error);
  }
  const auto blocks = static_cast<unsigned>(ceil_div(plan->chunks, std::uint64_t{kThreads}));
  if (Status status = start_prepare(job, work, source); !status.ok()) return status;
  const Batch& batch = work.batch;
  const Code code =
      entries_of(row.engine)
          .encode(reinterpret_cast<const void* const*>(batch.sources), batch.source_bytes,
                  std::min(plan->chunk_bytes, plan->array_bytes), plan->chunks, batch.temporary,
                  plan->encode_temporary, reinterpret_cast<void* const*>(batch.targets),
                  batch.result_bytes, plan->encode, batch.codes, job.stream);
  if (code != kSuccess) return engine_error(row, "does not encode", code);
  if (Status placed = cuda::launch(place, {1, kPlaceThreads}, job.stream, job, work);
      !placed.ok()) {
    return placed;
  }
  return cuda::launch(assemble, {plan->chunks, kThreads}, job.stream, job, work, source);
}

}  // namespace thinwire::codec::nvcomp
