// Launching the kernels of variable_frame.cuh.
#pragma once

#include <algorithm>

#include "codec/cuda/launch.h"
#include "codec/cuda/variable_frame.cuh"

namespace thinwire::codec::cuda {

// Enough to fill the largest GPUs several times over; each then has a run of chunks.
inline constexpr std::uint64_t kMostDecodeBlocks = 2048;

// What every kernel may have without asking.
inline constexpr std::size_t kFreeDynamicBytes = 47 * 1024;

// Both return once the kernel is enqueued. `open` where the job's parameter is: state->parameter of
// the workspace then has the resolved one by the time the encode runs.
template <typename Coder>
Status launch_variable_encode(const EncodeJob& job, bool open = false) {
  const std::uint64_t blocks = std::max<std::uint64_t>(1, job.layout.chunks);
  if (blocks > INT32_MAX) return {StatusCode::kUnsupported, "the array has too many chunks"};
  constexpr std::size_t kShared = sizeof(VariableShared<Coder>);
  if constexpr (kShared > kFreeDynamicBytes) {
    static std::atomic<std::uint64_t> allowed;
    Status status = allow_shared(encode_variable<Coder>, kShared, allowed);
    if (!status.ok()) return status;
  }
  encode_variable<Coder>
      <<<static_cast<unsigned>(blocks), Coder::kThreads, kShared, job.stream>>>(job, open);
  return launch_status(cudaGetLastError());
}

template <typename Coder, typename Sink>
Status launch_variable_decode(const DecodeJob& job, const Sink& sink, bool open = false) {
  // And one that looks at the frame as a whole.
  const auto blocks = std::min(job.layout.chunks, kMostDecodeBlocks) + 1;
  constexpr std::size_t kShared = sizeof(VariableShared<Coder>);
  if constexpr (kShared > kFreeDynamicBytes) {
    static std::atomic<std::uint64_t> allowed;
    Status status = allow_shared(decode_variable<Coder, Sink>, kShared, allowed);
    if (!status.ok()) return status;
  }
  decode_variable<Coder, Sink>
      <<<static_cast<unsigned>(blocks), Coder::kThreads, kShared, job.stream>>>(job, open, sink);
  return launch_status(cudaGetLastError());
}

// The same with the sink that the job asks for.
template <typename Coder>
Status launch_variable_decode(const DecodeJob& job) {
  return with_sink<Coder::kDtype>(
      job, [&](const auto& sink) { return launch_variable_decode<Coder>(job, sink); });
}

}  // namespace thinwire::codec::cuda
