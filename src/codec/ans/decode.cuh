// The decoding side of chunk.cuh: what the warps of a thread block do together.
#pragma once

#include "codec/ans/chunk.cuh"
#include "codec/ans/decode_piece.cuh"

namespace thinwire::codec::ans {

// For whole thread blocks.
template <Dtype kType>
template <bool kFull>
__device__ void PieceCoder<kType>::make_slots(std::uint32_t mixed, DecodeState& state) {
  std::uint8_t* next = state.slots;
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if ((mixed >> plane & 1) == 0) continue;
    SlotsOf<kFull>::make(state.starts[plane], next);
    next += SlotsOf<kFull>::kEach;
  }
}

template <Dtype kType>
template <typename Sink>
__device__ bool PieceCoder<kType>::decode(std::uint64_t* payload, std::uint32_t bytes,
                                          const cuda::Target& target, std::uint64_t parameter,
                                          DecodeState& state, const Sink& sink) {
  const std::uint32_t warp = threadIdx.x / 32;
  const auto* const in = reinterpret_cast<const std::byte*>(payload);
  const auto* const heads = reinterpret_cast<const std::uint32_t*>(payload);
  const std::uint32_t many = pieces_of(target.values, kPieceValues<Word>);
  if (bytes < 4 + 4 * many) return false;
  const bool masked = has_mask<Word>(heads[0]);
  const std::uint32_t coded = coded_of<Word>(heads[0]);
  std::uint32_t tables = 4 + 4 * many + (masked ? kMaskTableBytes : 0);
  if (bytes < tables || coded >> kPlanes != 0) return false;
  std::uint32_t start = 0;  // of the own lane's quad
  if (masked && !read_mask(in + 4 + 4 * many, start)) return false;
  if (!read_tables<kPieces, kPlanes>(in, tables, bytes, coded, state.starts, state.tables)) {
    return false;
  }
  PlaneSets sets = sets_of(state.tables);
  sets.masked = masked;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) tables += state.tables[plane].bytes();
  std::uint32_t begin = filled(tables), end = filled(tables);
#pragma unroll 1
  for (std::uint32_t each = 0; each < many; ++each) {
    const std::uint32_t values = values_of_piece(each, target.values);
    const PieceHead head = unpack_piece(heads[1 + each]);
    if (!is_sound<Word>(head, values, sets)) return false;
    const std::uint32_t own = Parts(values, head, sets).bytes();
    begin += each < warp ? own : 0;
    end += own;
  }
  if (end != bytes) return false;
  const bool is_full = __popc(sets.mixed) <= static_cast<int>(DecodeState::kFullSlots);
  if (is_full) {
    make_slots<true>(sets.mixed, state);
  } else {
    make_slots<false>(sets.mixed, state);
  }
  __syncthreads();
  bool is_sound = true;
  if (warp < many) {
    const PieceHead head = unpack_piece(heads[1 + warp]);
    const Parts parts(values_of_piece(warp, target.values), head, sets);
    const auto tuple = static_cast<std::uint32_t>(parameter & ~kInPieces);
    const QuadSlots quads(start);
    is_sound = is_full ? decode_piece<true>(parts, head.is_sparse, sets, quads, in + begin, target,
                                            tuple, state, sink)
                       : decode_piece<false>(parts, head.is_sparse, sets, quads, in + begin, target,
                                             tuple, state, sink);
  }
  if (threadIdx.x % 32 == 0) state.is_sound[warp] = is_sound;
  __syncthreads();
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) is_sound &= state.is_sound[each];
  return is_sound;
}

}  // namespace thinwire::codec::ans
