// The encoding side of chunk.cuh.
#pragma once

#include "codec/ans/chunk.cuh"

namespace thinwire::codec::ans {

// The planes and counts of their bytes; what the head says of them. Ends with a barrier.
template <Dtype kType>
__device__ Head ChunkCoder<kType>::make_planes(const Word* values, std::uint32_t count,
                                               std::uint32_t tuple, State& state) {
  const std::uint32_t warp = threadIdx.x / 32;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) state.counts[plane][threadIdx.x] = 0;
  Zeros own = split(values, count, tuple, state.planes);
  own = {cuda::sum_of_lanes(own.words), cuda::sum_of_lanes(own.bytes)};
  if (threadIdx.x % 32 == 0) state.zeros[warp] = own;
  __syncthreads();
  Zeros all;
#pragma unroll
  for (std::uint32_t each = 0; each < kWarps; ++each) {
    all.words += state.zeros[each].words;
    all.bytes += state.zeros[each].bytes;
  }
  Head head{};
  head.is_sparse = kPlanes > 1 && all.words > 0 && all.words == all.bytes;
  head.kept = head.is_sparse ? count - all.words : count;
  if (head.is_sparse) {
    __syncthreads();
    std::uint32_t kept = 0;
    for (int row = 0; row < Run<Word>::kRows; ++row) {
      const std::uint32_t at = Run<Word>::place(row);
      kept += __popc(__ballot_sync(cuda::kAllLanes, at < count && state.planes[at] != 0));
    }
    if (threadIdx.x % 32 == 0) state.zeros[warp].words = kept;
    __syncthreads();
    std::uint32_t before = 0;
#pragma unroll
    for (std::uint32_t each = 0; each < kWarps; ++each) {
      before += each < warp ? state.zeros[each].words : 0;
    }
    split_kept(values, count, tuple, head.kept, before, state.planes);
    __syncthreads();
  }
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    count_plane(state.planes + plane_at(plane, count, head.kept), plane == 0 ? count : head.kept,
                state.counts[plane], &state.spare[threadIdx.x % 32]);
  }
  __syncthreads();
  return head;
}

// Tables and stored planes. By all warps but the one that has the states.
template <Dtype kType>
__device__ void ChunkCoder<kType>::write_front(const Places<Word>& places, std::uint32_t values,
                                               std::uint32_t kept, std::byte* out,
                                               const State& state) {
  const std::uint32_t warp = (threadIdx.x / 32 + kWarps - coder_warp()) % kWarps - 1;
  const std::uint32_t thread = warp * 32 + threadIdx.x % 32;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (!state.tables[plane].is_coded || plane % (kWarps - 1) != warp) continue;
    write_table(state.tables[plane], state.counts[plane], out + places.table[plane]);
  }
  if (thread < places.stored[0] - places.tables_end) {
    out[places.tables_end + thread] = std::byte{0};
  }
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (state.tables[plane].is_coded) continue;
    const auto* const from =
        reinterpret_cast<const std::uint32_t*>(state.planes + plane_at(plane, values, kept));
    auto* const to = reinterpret_cast<std::uint32_t*>(out + places.stored[plane]);
    const std::uint32_t words = filled(plane == 0 ? values : kept) / 4;
    for (std::uint32_t at = thread; at < words; at += kThreads - 32) to[at] = from[at];
  }
}

// States and words of a payload that is to be shorter than `raw` bytes, and its front meanwhile;
// the end of it in `state`. Has barriers: all warps make the steps of a plane, one takes them.
template <Dtype kType>
__device__ void ChunkCoder<kType>::encode_states(const Places<Word>& places, std::uint32_t values,
                                                 Head head, std::uint32_t raw, std::byte* out,
                                                 State& state) {
  const bool is_coder = threadIdx.x / 32 == coder_warp();
  const std::uint32_t begin = places.states + kStateBytes;
  WordSink sink{.payload = reinterpret_cast<std::uint16_t*>(out),
                .next = begin / 2,
                .end = min(raw / 2, begin / 2 + kMostWords)};
  std::uint32_t own = kLeastState;
  bool has_front = false;
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (!state.tables[plane].is_mixed) continue;
    make_steps(state.counts[plane], state.steps);
    __syncthreads();
    if (is_coder) {
      take_plane(own, state.planes + plane_at(plane, values, head.kept),
                 plane == 0 ? values : head.kept, state.steps, sink);
    } else if (!has_front) {
      write_front(places, values, head.kept, out, state);
    }
    has_front = true;
    __syncthreads();
  }
  if (!is_coder) return;
  reinterpret_cast<std::uint32_t*>(out + places.states)[threadIdx.x % 32] = own;
  if (threadIdx.x % 32 != 0) return;
  head.words = sink.next - begin / 2;
  *reinterpret_cast<std::uint64_t*>(out) = pack(head);
  state.end = sink.next <= sink.end ? 2 * sink.next : raw;
}

template <Dtype kType>
__device__ std::uint32_t ChunkCoder<kType>::encode(const cuda::Piece& piece, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  const std::uint32_t warp = threadIdx.x / 32;
  cuda::gather_in<Word>(payload, piece);
  __syncthreads();
  Head head = make_planes(reinterpret_cast<const Word*>(payload), piece.values,
                          static_cast<std::uint32_t>(parameter), state);
  make_tables<kPlanes>(state.counts, piece.values, head.kept, state.teams, state.tables);
  __syncthreads();
  const Places<Word> places(state.tables, piece.values, head.kept);
  const std::uint32_t front = places.states + (places.has_states ? kStateBytes : 0);
  if (front >= piece.bytes) return piece.bytes;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    head.coded |= static_cast<std::uint32_t>(state.tables[plane].is_coded) << plane;
  }
  // All values have been read: their memory takes the payload.
  auto* const out = reinterpret_cast<std::byte*>(payload);
  if (places.has_states) {
    encode_states(places, piece.values, head, piece.bytes, out, state);
  } else {
    if (warp != coder_warp()) write_front(places, piece.values, head.kept, out, state);
    if (threadIdx.x == 0) {
      payload[0] = pack(head);
      state.end = places.states;
    }
  }
  __syncthreads();
  return state.end;
}

}  // namespace thinwire::codec::ans
