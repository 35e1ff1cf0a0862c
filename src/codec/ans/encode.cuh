// The encoding side of chunk.cuh: what the warps of a thread block do together.
#pragma once

#include "codec/ans/chunk.cuh"
#include "codec/ans/count.cuh"
#include "codec/ans/encode_piece.cuh"

namespace thinwire::codec::ans {

// Moves the own warp's piece to its place among the others. For whole thread blocks; has a barrier
// between the loads and the stores of all warps.
template <Dtype kType>
__device__ void PieceCoder<kType>::move_piece(const Parts& parts, std::uint32_t own,
                                              std::uint32_t lowest, std::byte* region,
                                              std::byte* to) {
  constexpr std::uint32_t kRows = kPieceBytes / 4 / 32, kAtOnce = 8;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t front = parts.offset(kPlanes) / 4, words = parts.word_bytes() / 4;
  // Rows of stored planes are the first ones, those of words the last ones; rows between may be
  // loaded, too.
  std::uint32_t part[kRows];
  const auto* const from = reinterpret_cast<const std::uint32_t*>(region) + lane;
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; row += kAtOnce) {
    if (32 * row >= front && 32 * (kRows - row - kAtOnce) >= words) continue;
#pragma unroll
    for (std::uint32_t each = row; each < row + kAtOnce; ++each) part[each] = from[32 * each];
  }
  __syncthreads();
  auto* const out = reinterpret_cast<std::uint32_t*>(to) + lane;
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; row += kAtOnce) {
    if (32 * row >= front) continue;
#pragma unroll
    for (std::uint32_t each = row; each < row + kAtOnce; ++each) {
      if (32 * each + lane < front) out[32 * each] = part[each];
    }
  }
  const std::uint32_t states = parts.state_bytes() / 4;
  std::uint32_t* const end = out + front + states + words - kPieceBytes / 4;
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; row += kAtOnce) {
    if (32 * (kRows - row - kAtOnce) >= words) continue;
#pragma unroll
    for (std::uint32_t each = row; each < row + kAtOnce; ++each) {
      if (32 * each + lane >= kPieceBytes / 4 - words) end[32 * each] = part[each];
    }
  }
  if (parts.has_states) out[front] = own;
  if (parts.has_free && lane == 0) out[front + kLanes] = lowest;
}

// Counts, tables and steps, which words need. For whole thread blocks, whose state nobody looks at
// any more; ends with a barrier.
template <Dtype kType>
__device__ auto PieceCoder<kType>::prepare(const cuda::Piece& piece, std::uint64_t parameter,
                                           State& state) -> Prepared {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Values values = values_of(piece, parameter);
  Counts& counts = state.counts;
#pragma unroll
  for (std::uint32_t each = 0; each < (kPlanes + 1) * kBytes; each += kThreads) {
    reinterpret_cast<std::uint32_t*>(&counts)[each + threadIdx.x] = 0;
  }
  __syncthreads();
  std::uint32_t likely = ~0u;
  if (piece.values == kChunkValues<Word>) likely = likely_planes(values, state);
  Zeros zeros{};
  if (values.count > 0) zeros = count_piece(values, likely, counts);
  const bool may_mask = may_have_mask<Word>(zeros.words, values.count);
  if (lane == 0) {
    // Both sums over a chunk are below 2^16.
    state.zeros[warp] = (zeros.is_sparse ? zeros.words : 0) | (may_mask ? zeros.words << 16 : 0);
  }
  __syncthreads();
  std::uint32_t all_zeros = 0;
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) all_zeros += state.zeros[each];
  const std::uint32_t sparse = all_zeros & 0xffff, masked = all_zeros >> 16;
  Prepared prepared{};
  bool has_masks = false;
  if (kPlanes > 1 && may_be_masked(masked, piece.values)) {
    has_masks = choose_mask(piece.values, sparse, masked, likely, prepared.quad, state);
  }
  const bool is_sparse = has_masks ? may_mask : zeros.is_sparse;
  prepared.head = {.words = 0,
                   .kept = values.count - (is_sparse ? zeros.words : 0),
                   .is_stored = false,
                   .is_sparse = is_sparse};
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    PlaneTable table{};
    if ((likely >> plane & 1) != 0) {
      const std::uint32_t lacking = has_masks ? masked : plane == 0 ? 0 : sparse;
      std::uint32_t planned;
      table = make_table<true>(counts[plane], piece.values - lacking, lacking, planned);
    }
    if (lane == 0) state.tables[plane] = table;
    __syncwarp();
    if (table.is_coded) write_table(table, counts[plane], state.table_bytes[plane]);
  }
  __syncthreads();
  prepared.sets = sets_of(state.tables);
  prepared.sets.masked = has_masks;
  make_piece_steps<kPlanes>(counts, state.tables, prepared.sets.mixed, state.steps);
  __syncthreads();
  return prepared;
}

template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::encode(const cuda::Piece& piece,
                                                   const Prepared& prepared, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Values values = values_of(piece, parameter);
  const PlaneSets sets = prepared.sets;
  PieceHead head = prepared.head;
  auto* const out = reinterpret_cast<std::byte*>(payload);
  std::byte* const region = out + warp * kPieceBytes;
  std::uint32_t own = kLeastState, lowest = 0;
  if (values.count > 0) {
    head = encode_piece(values, head, sets, prepared.quad, region, own, lowest, state);
  }
  if (lane == 0) state.heads[warp] = pack(head);
  __syncthreads();
  const std::uint32_t many = pieces_of(piece.values, kPieceValues<Word>);
  const std::uint32_t first_table = 4 + 4 * many + (sets.masked ? kMaskTableBytes : 0);
  std::uint32_t tables = first_table;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) tables += state.tables[plane].bytes();
  std::uint32_t begin = filled(tables), end = filled(tables);
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) {
    if (each >= many) break;
    const Parts parts(values_of_piece(each, piece.values), unpack_piece(state.heads[each]), sets);
    begin += each < warp ? parts.bytes() : 0;
    end += parts.bytes();
  }
  if (end >= piece.bytes) return piece.bytes;
  // A warp without a piece has nothing to move, but meets the others.
  const Parts parts(values.count, head, values.count > 0 ? sets : PlaneSets{~0u, 0, false});
  move_piece(parts, own, lowest, region, out + begin);
  auto* const front = reinterpret_cast<std::uint32_t*>(payload);
  if (threadIdx.x == 0) front[0] = pack<Word>(sets);
  if (sets.masked && threadIdx.x < kMaskTableBytes / 4) {
    front[1 + many + threadIdx.x] = state.mask_table[threadIdx.x];
  }
  if (lane == 0 && warp < many) front[1 + warp] = state.heads[warp];
  std::uint32_t table = first_table;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    const std::uint32_t bytes = state.tables[plane].bytes();
    for (std::uint32_t each = threadIdx.x; each < bytes; each += kThreads) {
      out[table + each] = state.table_bytes[plane][each];
    }
    table += bytes;
  }
  if (threadIdx.x < filled(tables) - tables) out[tables + threadIdx.x] = std::byte{0};
  __syncthreads();
  return end;
}

}  // namespace thinwire::codec::ans
