// Launching the kernels of variable_frame.cuh.
#pragma once

#include <algorithm>

#include "codec/cuda/launch.h"
#include "codec/cuda/variable_decode.cuh"
#include "codec/cuda/variable_encode.cuh"

namespace thinwire::codec::cuda {

// Dynamic shared memory that every kernel may have without asking.
inline constexpr std::size_t kFreeDynamicBytes = 47 * 1024;

// Returns how many thread blocks of `kernel` the current device holds at the same time. The driver
// is asked a single time: devices are taken to be alike, and blocks beyond what fits find no work
// left.
template <typename Kernel>
Result<unsigned> blocks_at_once(Kernel* kernel, int threads, std::size_t shared,
                                std::atomic<unsigned>& known) {
  if (const unsigned blocks = known.load(std::memory_order_relaxed); blocks != 0) return blocks;
  int device = 0, processors = 0, each = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared);
  }
  if (error != cudaSuccess) return launch_status(error);
  const auto blocks = static_cast<unsigned>(std::max(1, processors * each));
  known.store(blocks, std::memory_order_relaxed);
  return blocks;
}

// The grid of `kernel` for so many chunks: one block for the sizes, and as many others as there are
// chunks, or as fit. Blocks have `Shared`, or `Small` if the GPU has no room for that.
template <typename Shared, typename Small, typename Kernel>
Result<device::Grid> grid_for(Kernel* kernel, unsigned threads, std::uint64_t chunks,
                              std::atomic<std::uint64_t>& allowed, std::atomic<unsigned>& known) {
  using device::kStaticSharedBytes;
  constexpr std::size_t kShared = sizeof(Shared);
  constexpr std::size_t kSmall = sizeof(Small);
  static_assert(kShared + kStaticSharedBytes <= device::kCommonSharedBytes);
  static_assert(kSmall + kStaticSharedBytes <= device::kLeastSharedBytes);
  const bool small = device::has_small_blocks();
  if (small) {
    Status status = require_small_code(kernel);
    if (!status.ok()) return status;
  }
  if constexpr (kShared > kFreeDynamicBytes) {
    const std::size_t needed = small ? kSmall : kShared;
    Status status = needed > kFreeDynamicBytes ? allow_shared(kernel, needed, allowed) : Status{};
    if (!status.ok()) return status;
  }
  const std::size_t shared = small ? kSmall : kShared;
  const auto most = blocks_at_once(kernel, static_cast<int>(threads), shared, known);
  if (!most.ok()) return most.status();
  return device::Grid{std::min<std::uint64_t>(chunks, *most) + 1, threads, shared};
}

// The kernels' arguments, of which the older drivers take 4 KiB.
static_assert(sizeof(EncodeJob) + sizeof(Blocks) <= 4000 && sizeof(DecodeJob) <= sizeof(EncodeJob));

// Enqueues the encode of several blocks, a layer of the grid each: thread blocks are dispatched
// layer after layer, so that those that others wait for are being worked on, as in one.
template <typename Coder>
Status launch_variable_blocks(const EncodeJob& job) {
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  auto grid = grid_for<EncodeShared<Coder, 2>, EncodeShared<Coder, 1>>(
      encode_variable_blocks<Coder>, Coder::kThreads, job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  grid->layers = static_cast<unsigned>(job.blocks->count);
  return launch(encode_variable_blocks<Coder>, *grid, job.stream, job, *job.blocks);
}

template <typename Coder, typename Sink>
Status launch_variable_blocks(const DecodeJob& job, const Sink& sink) {
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  auto grid = grid_for<DecodeShared<Coder, 2>, DecodeShared<Coder, 1>>(
      decode_variable_blocks<Coder, Sink>, Coder::kThreads, job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  grid->layers = static_cast<unsigned>(job.blocks->count);
  return launch(decode_variable_blocks<Coder, Sink>, *grid, job.stream, job, *job.blocks, sink);
}

// Both return after the kernel is enqueued. `open` if the job's parameter is: the state in the
// workspace then has the resolved one by the time the encode runs. Several blocks have closed ones.
template <typename Coder>
Status launch_variable_encode(const EncodeJob& job, bool open = false) {
  if (job.blocks != nullptr) return launch_variable_blocks<Coder>(job);
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  const auto grid = grid_for<EncodeShared<Coder, 2>, EncodeShared<Coder, 1>>(
      encode_variable<Coder>, Coder::kThreads, job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  return launch(encode_variable<Coder>, *grid, job.stream, job, open);
}

template <typename Coder, typename Sink>
Status launch_variable_decode(const DecodeJob& job, const Sink& sink, bool open = false) {
  if (job.blocks != nullptr) return launch_variable_blocks<Coder>(job, sink);
  static std::atomic<std::uint64_t> allowed;
  static std::atomic<unsigned> known;
  const auto grid = grid_for<DecodeShared<Coder, 2>, DecodeShared<Coder, 1>>(
      decode_variable<Coder, Sink>, Coder::kThreads, job.layout.chunks, allowed, known);
  if (!grid.ok()) return grid.status();
  return launch(decode_variable<Coder, Sink>, *grid, job.stream, job, open, sink);
}

// The same with the sink that the job asks for.
template <typename Coder>
Status launch_variable_decode(const DecodeJob& job) {
  return with_sink<Coder::kDtype>(
      job, [&](const auto& sink) { return launch_variable_decode<Coder>(job, sink); });
}

}  // namespace thinwire::codec::cuda
