// The code of v0_chunk.cuh.
#pragma once

#include "codec/ans/v0_chunk.cuh"

namespace thinwire::codec::ans::v0 {

// The planes that have no states, for those that put planes together. By all warps but the one that
// has the states.
template <Dtype kType>
__device__ void ChunkCoder<kType>::copy_planes(const Places<Word>& places, std::uint32_t values,
                                               std::uint32_t kept, const std::byte* in,
                                               DecodeState& state) {
  const std::uint32_t warp = (threadIdx.x / 32 + kWarps - coder_warp()) % kWarps - 1;
  const std::uint32_t thread = warp * 32 + threadIdx.x % 32;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    const PlaneTable& table = state.tables[plane];
    if (table.is_mixed) continue;
    auto* const to = reinterpret_cast<std::uint32_t*>(state.planes + plane_at(plane, values, kept));
    const auto* const from = reinterpret_cast<const std::uint32_t*>(in + places.stored[plane]);
    const std::uint32_t words = filled(plane == 0 ? values : kept) / 4;
    const std::uint32_t rest = table.rest * 0x01010101u;
    for (std::uint32_t at = thread; at < words; at += kThreads - 32) {
      to[at] = table.is_coded ? rest : from[at];
    }
  }
}

// All planes. False, for all threads, if words or states are none of such. Has barriers: all
// warps make the slots of a plane, one takes its steps.
template <Dtype kType>
__device__ bool ChunkCoder<kType>::decode_planes(const Places<Word>& places, std::uint32_t values,
                                                 const Head& head, const std::byte* in,
                                                 DecodeState& state) {
  const bool is_coder = threadIdx.x / 32 == coder_warp();
  if (!places.has_states) {
    if (!is_coder) copy_planes(places, values, head.kept, in, state);
    __syncthreads();
    return true;
  }
  std::uint32_t own = reinterpret_cast<const std::uint32_t*>(in + places.states)[threadIdx.x % 32];
  if (__any_sync(cuda::kAllLanes, own < kLeastState || own >= kStateEnd)) return false;
  WordSource source{
      .words = reinterpret_cast<const std::uint16_t*>(in + places.states + kStateBytes),
      .left = static_cast<int>(head.words)};
  bool has_others = false;
#pragma unroll 1
  for (std::uint32_t plane = kPlanes; plane-- > 0;) {
    if (!state.tables[plane].is_mixed) continue;
    for_each_slot<kWarps>(state.starts[plane], [&](std::uint32_t slot, std::uint32_t byte,
                                                   std::uint32_t frequency, std::uint32_t place) {
      state.slots[slot] = slot_of(byte, frequency, place);
    });
    __syncthreads();
    if (is_coder) {
      give_back_plane(own, state.planes + plane_at(plane, values, head.kept),
                      plane == 0 ? values : head.kept, state.slots, source);
    } else if (!has_others) {
      copy_planes(places, values, head.kept, in, state);
    }
    has_others = true;
    __syncthreads();
  }
  if (is_coder) {
    const bool is_sound = source.left == 0 && __all_sync(cuda::kAllLanes, own == kLeastState);
    if (threadIdx.x % 32 == 0) state.is_sound = is_sound;
  }
  __syncthreads();
  return state.is_sound;
}

// How many bytes of the first plane of a sparse chunk are not 0 before the own warp's run. Whether
// they are as many in all as the other planes have bytes, for all threads. Has a barrier.
template <Dtype kType>
__device__ bool ChunkCoder<kType>::count_kept(std::uint32_t values, std::uint32_t kept,
                                              std::uint32_t& before, DecodeState& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr std::uint32_t kOfRun = Run<Word>::kRows * 32;
  std::uint32_t own = 0;
  for (std::uint32_t at = kOfLane * lane; at < kOfRun; at += kOfLane * 32) {
    own += __popc(bytes_there(state.planes, warp * kOfRun + at, values));
  }
  own = cuda::sum_of_lanes(own);
  if (lane == 0) state.kept[warp] = own;
  __syncthreads();
  std::uint32_t all = 0;
  before = 0;
#pragma unroll
  for (std::uint32_t other = 0; other < kWarps; ++other) {
    before += other < warp ? state.kept[other] : 0;
    all += state.kept[other];
  }
  return all == kept;
}

// The words of the own warp's run, or what they become if the tuple is 0 (values) or 1 (sums,
// whose last one is returned). `next` is how many words before are not 0, of a sparse chunk.
template <Dtype kType>
__device__ auto ChunkCoder<kType>::join(std::uint32_t values, const Head& head, std::uint32_t tuple,
                                        std::uint32_t next, const DecodeState& state, Word* out)
    -> Word {
  constexpr std::uint32_t kOfRun = Run<Word>::kRows * 32;
  const std::uint32_t begin = threadIdx.x / 32 * kOfRun;
  const std::uint32_t end = min(begin + kOfRun, values);
  Word last = 0;
#pragma unroll 1
  for (std::uint32_t base = begin; base < end; base += kOfLane * 32) {
    const std::uint32_t first = base + kOfLane * (threadIdx.x % 32);
    Four<Word> words;
    if (head.is_sparse) {
      const std::uint32_t there = bytes_there(state.planes, first, values);
      const std::uint32_t up_to = cuda::sum_up_to_lane(static_cast<std::uint32_t>(__popc(there)));
      words = kept_words<Word>(state.planes, first, there, next + up_to - __popc(there), values,
                               head.kept);
      next += __shfl_sync(cuda::kAllLanes, up_to, 31);
    } else {
      words = all_words<Word>(state.planes, first, values);
    }
    if (tuple == 1) {
#pragma unroll
      for (Word& word : words.of) word = unfold(word);
      add_up(words, last);
    } else if (tuple == 0) {
#pragma unroll
      for (Word& word : words.of) word = sign_to_high(word);
    }
    *reinterpret_cast<Four<Word>*>(out + first) = words;
  }
  return last;
}

template <Dtype kType>
template <typename Sink>
__device__ bool ChunkCoder<kType>::decode(std::uint64_t* payload, std::uint32_t bytes,
                                          const cuda::Target& target, std::uint64_t parameter,
                                          DecodeState& state, const Sink& sink) {
  const auto tuple = static_cast<std::uint32_t>(parameter);
  const auto* const in = reinterpret_cast<const std::byte*>(payload);
  if (bytes < kHeadBytes || !is_sound<Word>(payload[0], target.values)) return false;
  const Head head = unpack(payload[0]);
  if (!read_tables<kWarps, kPlanes>(in, kHeadBytes, bytes, head.coded, state.starts,
                                    state.tables)) {
    return false;
  }
  {
    const Places<Word> places(state.tables, target.values, head.kept);
    const std::uint32_t words_at = places.states + (places.has_states ? kStateBytes : 0);
    if (bytes != words_at + 2 * head.words || (!places.has_states && head.words != 0)) return false;
    if (!decode_planes(places, target.values, head, in, state)) return false;
  }
  std::uint32_t before = 0;
  if (head.is_sparse && !count_kept(target.values, head.kept, before, state)) return false;
  // All of the payload has been read: its memory takes the values.
  auto* const values = reinterpret_cast<Word*>(payload);
  const Word last = join(target.values, head, tuple, before, state, values);
  if (tuple != 0) {
    Word* const own_ends = state.ends + threadIdx.x / 32 * 32;
    if (tuple == 1) {
      if (threadIdx.x % 32 == 0) own_ends[0] = last;
    } else {
      __syncwarp();
      add_along_run(values, target.values, tuple, own_ends);
    }
    __syncthreads();
    add_before_run(values, target.values, tuple, before_run(tuple, state.ends));
  }
  __syncthreads();
  cuda::scatter_out(sink, target, payload);
  return true;
}

}  // namespace thinwire::codec::ans::v0
