// The decoding side of chunk.cuh.
#pragma once

#include "codec/ans/chunk.cuh"

namespace thinwire::codec::ans {

// The tables of the coded planes, a warp each. False, for all threads, where one is not sound. Has
// a barrier.
template <Dtype kType>
__device__ bool ChunkCoder<kType>::read_tables(const std::byte* in, std::uint32_t bytes,
                                               const Head& head, State& state) {
  const std::uint32_t warp = threadIdx.x / 32;
  std::uint32_t at = kHeadBytes, own = 0;
  bool fits = true;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (!is_coded(head, plane) || !fits) continue;
    own = plane == warp ? at : own;
    const std::uint32_t first = at + 2 <= bytes ? static_cast<std::uint32_t>(in[at]) : 64;
    const std::uint32_t groups = at + 2 <= bytes ? static_cast<std::uint32_t>(in[at + 1]) : 0;
    at += 2 + 3 * groups;
    fits = groups > 0 && first + groups <= kBytes / 4 && at <= bytes;
  }
  if (!fits) return false;
  if (warp < kPlanes) {
    PlaneTable table{};
    table.is_sound = true;
    if (is_coded(head, warp)) table = read_table(in + own, state.counts[warp]);
    if (threadIdx.x % 32 == 0) state.tables[warp] = table;
  }
  __syncthreads();
  bool is_sound = true;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) is_sound &= state.tables[plane].is_sound;
  return is_sound;
}

// By one warp.
template <Dtype kType>
__device__ bool ChunkCoder<kType>::decode_states(const Places<Word>& places, std::uint32_t values,
                                                 const Head& head, const std::byte* in,
                                                 State& state) {
  std::uint32_t own = reinterpret_cast<const std::uint32_t*>(in + places.states)[threadIdx.x % 32];
  if (__any_sync(cuda::kAllLanes, own < kLeastState || own >= kStateEnd)) return false;
  const auto words = static_cast<int>(head.words);
  WordSource source{
      .words = reinterpret_cast<const std::uint16_t*>(in + places.states + kStateBytes),
      .left = words,
      .least = words};
#pragma unroll 1
  for (std::uint32_t plane = kPlanes; plane-- > 0;) {
    if (!state.tables[plane].is_mixed) continue;
    make_slots(state.counts[plane], state.slots);
    give_back_plane(own, state.planes + plane_at(plane, values, head.kept),
                    plane == 0 ? values : head.kept, state.counts[plane], state.slots, source);
  }
  return source.left == 0 && source.least == 0 && __all_sync(cuda::kAllLanes, own == kLeastState);
}

// The words of the own run. False, for all threads, where the first plane has not as many bytes
// that are not 0 as the others have bytes. Has a barrier where the chunk is sparse.
template <Dtype kType>
__device__ bool ChunkCoder<kType>::join(const Places<Word>& places, std::uint32_t values,
                                        const Head& head, const std::byte* in,
                                        Word (&words)[Run<Word>::kRows], State& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint8_t* bytes[kPlanes];
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    bytes[plane] = state.tables[plane].is_coded
                       ? state.planes + plane_at(plane, values, head.kept)
                       : reinterpret_cast<const std::uint8_t*>(in) + places.stored[plane];
  }
  const std::uint8_t* const highest = bytes[0];
  std::uint32_t next = warp * (Run<Word>::kRows * 32);
  if (head.is_sparse) {
    std::uint32_t own = 0;
#pragma unroll 4
    for (int row = 0; row < Run<Word>::kRows; ++row) {
      const std::uint32_t at = Run<Word>::place(row);
      own += at < values && highest[at] != 0;
    }
    own = cuda::sum_of_lanes(own);
    if (lane == 0) state.zeros[warp].words = own;
    __syncthreads();
    std::uint32_t all = 0;
    next = 0;
#pragma unroll
    for (int other = 0; other < kWarps; ++other) {
      next += other < static_cast<int>(warp) ? state.zeros[other].words : 0;
      all += state.zeros[other].words;
    }
    if (all != head.kept) return false;
  }
#pragma unroll
  for (int row = 0; row < Run<Word>::kRows; ++row) {
    const std::uint32_t at = Run<Word>::place(row);
    const std::uint8_t byte = at < values ? highest[at] : 0;
    const bool is_kept = at < values && !(head.is_sparse && byte == 0);
    const unsigned all = __ballot_sync(cuda::kAllLanes, is_kept);
    const std::uint32_t place = next + __popc(all & ((1u << lane) - 1));
    next += __popc(all);
    Word word = is_kept ? word_of<Word>(byte, 0) : Word{0};
#pragma unroll
    for (std::uint32_t plane = 1; plane < kPlanes; ++plane) {
      if (is_kept) word |= word_of<Word>(bytes[plane][place], plane);
    }
    words[row] = word;
  }
  return true;
}

template <Dtype kType>
template <typename Sink>
__device__ bool ChunkCoder<kType>::decode(std::uint64_t* payload, std::uint32_t bytes,
                                          const cuda::Target& target, std::uint64_t parameter,
                                          State& state, const Sink& sink) {
  const auto tuple = static_cast<std::uint32_t>(parameter);
  const auto* const in = reinterpret_cast<const std::byte*>(payload);
  if (bytes < kHeadBytes || !is_sound<Word>(payload[0], target.values)) return false;
  const Head head = unpack(payload[0]);
  if (!read_tables(in, bytes, head, state)) return false;
  const Places<Word> places(state.tables, target.values, head.kept);
  const std::uint32_t words_at = places.states + (places.has_states ? kStateBytes : 0);
  if (bytes != words_at + 2 * head.words || (!places.has_states && head.words != 0)) return false;

#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    const PlaneTable& table = state.tables[plane];
    if (!table.is_coded || table.is_mixed) continue;
    std::uint8_t* const out = state.planes + plane_at(plane, target.values, head.kept);
    const std::uint32_t size = plane == 0 ? target.values : head.kept;
    for (std::uint32_t at = threadIdx.x; at < size; at += kThreads) {
      out[at] = static_cast<std::uint8_t>(table.rest);
    }
  }
  if (threadIdx.x / 32 == coder_warp()) {
    const bool is_sound =
        !places.has_states || decode_states(places, target.values, head, in, state);
    if (threadIdx.x % 32 == 0) state.is_sound = is_sound;
  }
  __syncthreads();
  Word words[Run<Word>::kRows];
  if (!state.is_sound || !join(places, target.values, head, in, words, state)) return false;
  if (tuple != 0) add_along<Word>(words, tuple, state.ends);
  __syncthreads();
  // All planes have been read: the payload's memory takes the values.
  auto* const values = reinterpret_cast<Word*>(payload);
#pragma unroll
  for (int row = 0; row < Run<Word>::kRows; ++row) {
    const std::uint32_t at = Run<Word>::place(row);
    if (at < target.values) values[at] = sign_to_high(words[row]);
  }
  __syncthreads();
  cuda::scatter_out(sink, target, payload);
  return true;
}

}  // namespace thinwire::codec::ans
