// The chunks of a thread block that decodes frames made with mode=fixed, one a turn.
#pragma once

#include "codec/cuda/variable_decode.cuh"
#include "codec/expack/fixed_stretch.cuh"

namespace thinwire::codec::expack {

template <typename Coder>
struct FixedShared {
  using Room = FixedRoom<Coder::kDtype>;

  cuda::DecodeShared<Coder, 1> whole;  // in whose payload the room lies
  cuda::Arriving coming[4];  // one thread writes the next turn's while others read the last one's
  std::uint64_t sums[2][kStretches];  // of the payloads' checksums, a warp each
  std::uint64_t row;                  // on their way here: of the next chunk
  cuda::ScanWord sum;

  __device__ cuda::Arriving& of_turn(unsigned turn) { return coming[turn % 4]; }
  __device__ Room& room() { return *reinterpret_cast<Room*>(whole.payload[0]); }
  static_assert(sizeof(Room) <= Coder::kPayloadBytes);
};

// Finds chunks after a thread block's first one, for its first thread. What it knows lies in shared
// memory: a register that waits for an answer would make all warps wait.
template <typename Coder>
class FixedScout {
 public:
  __device__ FixedScout(const DecodeJob& job, const std::byte* frame, std::byte* workspace)
      : job_(job), frame_(frame), workspace_(workspace) {}

  __device__ static bool is_here() { return threadIdx.x == 0; }

  // Takes a ticket, whose number is to be kept as late as possible. A block's first chunk has the
  // block's number, and no ticket; if each block has one, the answer is one after the last chunk.
  __device__ unsigned long long ask() const {
    if (!is_here()) return 0;
    return cuda::Tickets(workspace_, job_.layout.chunks).next();
  }
  __device__ void keep(unsigned long long ticket, FixedShared<Coder>& shared) const {
    if (is_here()) shared.whole.next = ticket + gridDim.x - 1;
  }

  // Starts to look for the next chunk.
  __device__ void look(FixedShared<Coder>& shared) const {
    if (!is_here() || shared.whole.next >= job_.layout.chunks) return;
    const std::uint64_t index = shared.whole.next;
    const std::byte* const row = row_at(index);
    if (cuda::is_aligned<std::uint64_t>(row)) __pipeline_memcpy_async(&shared.row, row, 8);
    __pipeline_memcpy_async(&shared.sum, cuda::words_of(workspace_) + index, 8);
    __pipeline_commit();
  }

  // Finds it, and asks for its payload to be brought near.
  __device__ void find(FixedShared<Coder>& shared, cuda::Arriving& found) const {
    if (!is_here()) return;
    const std::uint64_t index = found.index = shared.whole.next;
    if (index >= job_.layout.chunks) return;
    __pipeline_wait_prior(0);
    const std::byte* const row = row_at(index);
    found.row = cuda::is_aligned<std::uint64_t>(row) ? shared.row : cuda::load_word(row);
    const cuda::ScanWord sum = shared.sum;
    const std::uint64_t end = sum >= cuda::kSum
                                  ? sum & cuda::kScanValue
                                  : cuda::await_sum(cuda::words_of(workspace_), index);
    const std::uint64_t before = end - cuda::size_of_row<Coder>(found.row);
    found.offset = cuda::offset_in_frame<Coder>(job_, found.bytes(), before);
    if (found.offset != cuda::Arriving::kNowhere) {
      cuda::bring_near(frame_ + found.offset, found.bytes());
    }
  }

 private:
  __device__ const std::byte* row_at(std::uint64_t index) const {
    return frame_ + job_.header.bytes() + index * kTableRowBytes;
  }

  const DecodeJob& job_;
  const std::byte* frame_;
  std::byte* workspace_;
};

// Finds the first chunk of a thread block, which waits for nobody. For whole thread blocks; has
// barriers.
template <typename Coder>
__device__ void find_first_chunk(const DecodeJob& job, const std::byte* frame,
                                 FixedShared<Coder>& shared) {
  constexpr int kAtOnce = 8;
  const std::uint64_t index = blockIdx.x - 1;
  const std::byte* const table = frame + job.header.bytes();
  const bool is_aligned = cuda::is_aligned<std::uint64_t>(table);
  cuda::Arriving chunk{.index = index, .row = 0, .offset = cuda::Arriving::kNowhere};
  if (threadIdx.x == 0) chunk.row = cuda::load_word(table + index * kTableRowBytes);
  std::uint64_t before = 0;
  for (std::uint64_t base = threadIdx.x; base < index; base += kAtOnce * Coder::kThreads) {
    std::uint64_t row[kAtOnce];
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) {
      const std::uint64_t other = base + each * Coder::kThreads;
      row[each] = 0;
      if (other >= index) continue;
      row[each] = is_aligned ? reinterpret_cast<const std::uint64_t*>(table)[other]
                             : cuda::load_bytes<std::uint64_t>(table + other * kTableRowBytes);
    }
#pragma unroll
    for (int each = 0; each < kAtOnce; ++each) before += cuda::size_of_row<Coder>(row[each]);
  }
  before = cuda::sum_over_block(before, shared.whole.sums);
  if (threadIdx.x == 0) {
    chunk.offset = cuda::offset_in_frame<Coder>(job, chunk.bytes(), before);
    shared.of_turn(0) = chunk;
  }
  __syncthreads();
}

}  // namespace thinwire::codec::expack
