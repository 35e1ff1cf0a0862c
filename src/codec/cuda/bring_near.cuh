// Memory that is soon to be read, asked for ahead of time.
#pragma once

#include "codec/cuda/variable_frame.cuh"

namespace thinwire::codec::cuda {

// Asks for memory that is soon to be read to be brought near, if the GPU takes such hints. One
// thread.
__device__ inline void bring_near([[maybe_unused]] const std::byte* at,
                                  [[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  const std::byte* const begin = at - reinterpret_cast<std::uintptr_t>(at) % 16;
  const std::uint32_t size = (static_cast<std::uint32_t>(at - begin) + bytes + 15) / 16 * 16;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(begin)),
               "r"(size)
               : "memory");
#endif
}

// Brings the values of a chunk near, if there is one. One thread.
template <typename Coder>
__device__ void bring_chunk_near(const EncodeJob& job, const BlockPlace& at, std::uint64_t index) {
  if constexpr (requires { Coder::kBringsNear; }) {
    if (index >= job.layout.chunks) return;
    const Piece piece = piece_of<sizeof(CoderWord<Coder>)>(job.layout, index, at.from);
    bring_near(piece.at, piece.bytes);
  }
}

template <typename Coder>
constexpr bool brings_target_near() {
  if constexpr (requires { Coder::kBringsTargetNear; }) return Coder::kBringsTargetNear;
  return false;
}

// Brings near what the values of a chunk are added to, if they are, row by row. For whole thread
// blocks.
template <typename Coder, typename Sink>
__device__ void bring_target_near(const DecodeJob& job, const BlockPlace& at, std::uint64_t index) {
  if constexpr (Sink::kAdds && brings_target_near<Coder>()) {
    if (index >= job.layout.chunks) return;
    constexpr std::uint32_t kBytes = sizeof(CoderWord<Coder>);
    const Target target = piece_of<kBytes>(job.layout, index, at.to);
    const Box& box = target.box;
    for (std::uint32_t row = threadIdx.x; row < box.y * box.z; row += Coder::kThreads) {
      bring_near(target.template place<kBytes>(row * box.x), box.x * kBytes);
    }
  }
}

}  // namespace thinwire::codec::cuda
