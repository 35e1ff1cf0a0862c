// A chunk of lorenzo by one thread block, a brick by each thread; spec/codec-lorenzo.md.
#pragma once

#include "codec/lorenzo/planes.cuh"
#include "codec/lorenzo/residuals.cuh"
#include "codec/lorenzo/sums.cuh"

namespace thinwire::codec::lorenzo {

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = kBoxBricks;
  static constexpr int kWarps = kThreads / 32;
  static constexpr std::uint32_t kPayloadBytes = kBoxBytes;
  static constexpr int kResident = sizeof(Word) == 2 ? 4 : 5;

  struct State {
    alignas(16) uint4 warps[kWarps * kRowPieces];
    std::uint32_t planes[kWarps];
    std::uint16_t widths[kThreads];
  };

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state) {
    const ThreadBox<const std::byte> box(piece, sizeof(Word));
    const auto tuple = static_cast<unsigned>(parameter);
    if (box.dimension == 1) return encode_box<1>(box, piece.bytes, tuple, payload, state);
    if (box.dimension == 2) return encode_box<2>(box, piece.bytes, tuple, payload, state);
    return encode_box<3>(box, piece.bytes, tuple, payload, state);
  }

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter, State& state,
                                const Sink& sink) {
    const ThreadBox<std::byte> box(target, sizeof(Word));
    const auto tuple = static_cast<unsigned>(parameter);
    if (box.dimension == 1) return decode_box<1>(box, bytes, tuple, payload, state, sink);
    if (box.dimension == 2) return decode_box<2>(box, bytes, tuple, payload, state, sink);
    return decode_box<3>(box, bytes, tuple, payload, state, sink);
  }

 private:
  // The position of a thread's planes among the chunk's, in planes: joint ones in the low half of
  // each number and single ones in the high half. For whole thread blocks, with a barrier.
  using Run = cuda::Running<std::uint32_t>;
  __device__ static Run place_planes(std::uint32_t planes, State& state) {
    return cuda::sum_before_thread<kThreads>(planes, state.planes);
  }

  // Bytes of so many planes.
  __device__ static std::uint32_t joint_bytes(std::uint32_t planes) {
    return 4 * (planes & 0xffff);
  }
  __device__ static std::uint32_t single_bytes(std::uint32_t planes) { return 2 * (planes >> 16); }

  template <int kDimension>
  __device__ static std::uint32_t encode_box(const ThreadBox<const std::byte>& box,
                                             std::uint32_t raw_bytes, unsigned tuple,
                                             std::uint64_t* payload, State& state) {
    const BrickPlace<kDimension> place;
    const BrickGrid grid = brick_grid<Word>(kDimension, box.x, box.y, box.z);
    const unsigned number = place.number(grid);
    const std::uint32_t widths = width_bytes(grid.count());
    auto* const bytes = reinterpret_cast<std::byte*>(payload);
    auto* const words = reinterpret_cast<std::uint32_t*>(payload);

    Matrix matrix;
    {
      Brick<Word> brick;
      take_residuals<Word>(box, place, tuple, reinterpret_cast<uint4*>(payload), brick);
      to_matrix<Word>(brick, matrix);
    }
    const Width width = width_of<Word>(matrix);
    if (number != place.kNone) state.widths[number] = width.packed();
    const Run run = place_planes(width.template planes<Word>(), state);
    if (run.total == 0) return 0;
    const std::uint32_t used = widths + joint_bytes(run.total) + single_bytes(run.total);
    const std::uint32_t size = (used + 7) / 8 * 8;
    if (size >= raw_bytes) return size;
    if (threadIdx.x < widths / 4) {
      words[threadIdx.x] = word_of_widths(state.widths, threadIdx.x, grid.count());
    }
    transpose(matrix);
    std::byte* const joint = bytes + widths;
    std::byte* const single = joint + joint_bytes(run.total);
    store_planes<Word>(matrix, width, joint + joint_bytes(run.before),
                       single + single_bytes(run.before));
    if (threadIdx.x < size - used) bytes[used + threadIdx.x] = std::byte{0};
    __syncthreads();
    return size;
  }

  template <int kDimension, typename Sink>
  __device__ static bool decode_box(const ThreadBox<std::byte>& box, std::uint32_t size,
                                    unsigned tuple, std::uint64_t* payload, State& state,
                                    const Sink& sink) {
    const BrickPlace<kDimension> place;
    const BrickGrid grid = brick_grid<Word>(kDimension, box.x, box.y, box.z);
    const unsigned number = place.number(grid);
    const std::uint32_t widths = width_bytes(grid.count());
    const auto* const bytes = reinterpret_cast<const std::byte*>(payload);
    if (size != 0 && size < widths) return false;
    Width width{0, 0};
    if (size != 0 && number != place.kNone) {
      width = load_width(reinterpret_cast<const std::uint32_t*>(payload), number);
    }
    const bool too_wide = max(width.a, width.b) > kMostPlanes<Word>;
    // Sums of what is too wide run over, but say nothing then.
    const Run run = place_planes(width.template planes<Word>(), state);
    const std::uint32_t used = widths + joint_bytes(run.total) + single_bytes(run.total);
    const bool fits = size == 0 || size == (used + 7) / 8 * 8;
    if (__syncthreads_or(too_wide || !fits)) return false;
    const std::byte* const joint = bytes + widths;
    const std::byte* const single = joint + joint_bytes(run.total);
    Brick<Word> brick;
    {
      Matrix matrix;
      load_planes<Word>(joint + joint_bytes(run.before), single + single_bytes(run.before), width,
                        matrix);
      transpose(matrix);
      from_matrix<Word>(matrix, brick);
    }
    // The payload has been read: its memory takes the box.
    __syncthreads();
    const SumShared shared{reinterpret_cast<uint4*>(payload), state.warps};
    restore_values<Word>(box, place, tuple, shared, brick, sink);
    return true;
  }
};

}  // namespace thinwire::codec::lorenzo
