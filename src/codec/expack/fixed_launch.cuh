// Launching the kernels of fixed_decode.cuh.
#pragma once

#include "codec/cuda/variable_launch.cuh"
#include "codec/expack/fixed_decode.cuh"

namespace thinwire::codec::expack {

template <typename Coder, typename Sink>
Status launch_fixed_blocks(const DecodeJob& job, const Sink& sink) {
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  using Shared = FixedShared<Coder>;
  auto grid = cuda::grid_for<Shared, Shared>(decode_fixed_blocks<Coder, Sink>, Coder::kThreads,
                                             job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  grid->layers = static_cast<unsigned>(job.blocks->count);
  return cuda::launch(decode_fixed_blocks<Coder, Sink>, *grid, job.stream, job, *job.blocks, sink);
}

template <typename Coder, typename Sink>
Status launch_fixed_array(const DecodeJob& job, const Sink& sink) {
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  using Shared = FixedShared<Coder>;
  const auto grid = cuda::grid_for<Shared, Shared>(decode_fixed<Coder, Sink>, Coder::kThreads,
                                                   job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  return cuda::launch(decode_fixed<Coder, Sink>, *grid, job.stream, job, sink);
}

// Enqueues the decode of an array, or of several, with the sink that the job asks for.
template <typename Coder>
Status launch_fixed_decode(const DecodeJob& job) {
  return cuda::with_sink<Coder::kDtype>(job, [&](const auto& sink) {
    return job.blocks != nullptr ? launch_fixed_blocks<Coder>(job, sink)
                                 : launch_fixed_array<Coder>(job, sink);
  });
}

}  // namespace thinwire::codec::expack
