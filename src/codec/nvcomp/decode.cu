// Decode: a kernel of ours checks everything and says what nvCOMP may look at; another tells what
// came of it.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "codec/cuda/launch.h"
#include "codec/nvcomp/batch.h"
#include "codec/nvcomp/device.h"
#include "codec/nvcomp/look.cuh"
#include "device/work_stream.h"

namespace thinwire::codec::nvcomp {
namespace {

// Most thread blocks of the kernel that looks: enough to fill the largest GPUs several times over.
constexpr std::uint64_t kMostBlocks = 2048;
constexpr int kFinishThreads = 1024;

// One thread block: whether nvCOMP made of each chunk what it had to; the outcome; clean state.
__global__ void __launch_bounds__(kFinishThreads)
    finish(const Decode work, std::uint64_t entries, bool refused, device::Outcome* outcome) {
  bool sound = !refused;
  for (std::uint64_t at = threadIdx.x; at < entries; at += kFinishThreads) {
    const std::uint64_t wanted = work.batch.target_bytes[at];
    if (wanted != 0 &&
        (work.batch.codes[at] != kSuccess || work.batch.result_bytes[at] != wanted)) {
      sound = false;
    }
  }
  sound = __syncthreads_and(sound) != 0;
  if (threadIdx.x != 0) return;
  auto status = static_cast<StatusCode>(work.batch.state->status);
  if (status == StatusCode::kOk && !sound) status = StatusCode::kDamaged;
  *work.batch.state = {};
  cuda::publish_with_writes(outcome, status, 0);
}

// nvCOMP's part; false if it refuses the batch.
Result<bool> run_engine(const Plan& plan, const Decode& work, std::uint64_t entries,
                        device::StreamHandle stream) {
  if (entries == 0) return true;
  const Batch& batch = work.batch;
  const Code code =
      entries_of(plan.row->engine)
          .decode(reinterpret_cast<const void* const*>(batch.sources), batch.source_bytes,
                  batch.target_bytes, batch.result_bytes, entries, batch.temporary,
                  plan.decode_temporary, reinterpret_cast<void* const*>(batch.targets), plan.decode,
                  batch.codes, stream);
  if (code == kSuccess) return true;
  constexpr Code kCannotDecode = 12;
  if (code == kCannotDecode) return false;
  return engine_error(*plan.row, "does not decode", code);
}

// How many chunks nvCOMP is given; waits for them to be counted. None if the frame is damaged.
Result<std::uint64_t> counted_entries(const Decode& work, device::StreamHandle stream) {
  State state{};
  cudaError_t error =
      cudaMemcpyAsync(&state, work.batch.state, sizeof state, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return cuda::launch_status(error);
  return std::uint64_t{state.status == 0 ? state.entries : 0};
}

Status refuse(const Row& row, const DecodeJob& job) {
  if (job.accumulate.adds) {
    return {StatusCode::kUnsupported, std::string(row.name) + " does not add what it decodes"};
  }
  if (!job.checksums) return unchecked(row);
  if (decodes_behind_host(row.engine) && device::is_capturing(job.stream)) {
    return {StatusCode::kUnsupported,
            std::string(row.name) + " waits for the stream to decode: that cannot be captured"};
  }
  return {};
}

}  // namespace

Status decode(const Row& row, const DecodeJob& job) {
  auto plan = make_plan(row, job.layout, job.parameter);
  if (!plan.ok()) return plan.status();
  if (Status refused = refuse(row, job); !refused.ok()) return refused;
  const bool lies_well =
      plan->chunks == 0 ||
      reinterpret_cast<std::uintptr_t>(job.destination) % plan->decode_alignments.output == 0;
  const std::uint32_t unit = payload_unit(row.engine);
  Decode work{.batch = plan->batch(job.workspace),
              .chunks = plan->chunks,
              .chunk_bytes = plan->chunk_bytes,
              .array_bytes = plan->array_bytes,
              .slot_bytes = plan->slot_bytes,
              .alignment = static_cast<std::uint32_t>(plan->decode_alignments.input),
              .unit = unit,
              .lead = payload_lead(unit, job.header.bytes() + job.layout.table_bytes()),
              .counted = decodes_behind_host(row.engine),
              .destination = job.destination};
  if (!lies_well) work.destination = work.batch.array;
  const auto blocks = static_cast<unsigned>(std::min(plan->chunks, kMostBlocks) + 1);
  Status status = cuda::launch(look, {blocks, kThreads}, job.stream, job, work);
  if (!status.ok()) return status;
  std::uint64_t entries = plan->chunks;
  if (work.counted && entries != 0) {
    auto counted = counted_entries(work, job.stream);
    if (!counted.ok()) return counted.status();
    entries = *counted;
  }
  auto taken = run_engine(*plan, work, entries, job.stream);
  if (!taken.ok()) {
    cudaMemsetAsync(work.batch.state, 0, sizeof(State), job.stream);
    return taken.status();
  }
  if (!lies_well) {
    const cudaError_t error = cudaMemcpyAsync(job.destination, work.destination, plan->array_bytes,
                                              cudaMemcpyDefault, job.stream);
    if (error != cudaSuccess) return cuda::launch_status(error);
  }
  return cuda::launch(finish, {1, kFinishThreads}, job.stream, work, entries, !*taken, job.outcome);
}

}  // namespace thinwire::codec::nvcomp
