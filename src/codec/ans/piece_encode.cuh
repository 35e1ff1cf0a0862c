// The encoding side of piece_chunk.cuh.
#pragma once

#include "codec/ans/piece_chunk.cuh"
#include "codec/ans/planes.cuh"

namespace thinwire::codec::ans {

// A bit of each of four bytes of a lane that there are, given how many values are left.
__device__ inline std::uint32_t there_of(int left) {
  return left >= static_cast<int>(kOfLane) ? 0xfu : left <= 0 ? 0u : (1u << left) - 1;
}

// The same of those that are not 0.
__device__ inline std::uint32_t not_0(std::uint32_t four) {
  const std::uint32_t high = bytes_not_0(four);
  return (high >> 7 & 1) | (high >> 14 & 2) | (high >> 21 & 4) | (high >> 28 & 8);
}

// Counts four bytes of a plane, `there` being their highest bits, but for the one that is `often`
// there; returns how many others there are.
__device__ inline std::uint32_t count_four(std::uint32_t four, std::uint32_t there,
                                           std::uint32_t often, std::uint32_t* counts) {
  const std::uint32_t others = bytes_not_0(four ^ often * 0x01010101u) & there;
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) {
    const std::uint32_t byte = four >> (8 * at) & 0xff;
    if ((others >> (8 * at) & 0x80) != 0) atomicAdd(counts + byte, 1u);
  }
  return __popc(others);
}

// The byte that most lanes have first: it is counted apart, else lanes would wait for each other.
__device__ inline std::uint32_t often_of(std::uint32_t four) {
  const std::uint32_t sample = four & 0xff;
  const auto alike = static_cast<unsigned>(__popc(__match_any_sync(kAllLanes, sample)));
  return cuda::most_of_lanes(alike << 8 | sample) & 0xff;
}

// Counts the bytes of the own warp's piece; what its head says of its zeros.
template <Dtype kType>
__device__ PieceHead PieceCoder<kType>::count_piece(const Values& values, State& state) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t often[kPlanes] = {}, others[kPlanes] = {};
  std::uint32_t zero_words = 0, zero_bytes = 0;
  // Values are on their way while those of the group before are counted.
  Packed<Word> before{}, next = load_group<Word>(values, 0);
#pragma unroll 1
  for (std::uint32_t first = 0; first < values.count; first += kGroupValues) {
    const Packed<Word> own = next;
    next = load_group<Word>(values, static_cast<int>(first + kGroupValues));
    const Packed<Word> words = words_of(values, first, own, before);
    before = own;
    const int left = static_cast<int>(values.count) - static_cast<int>(first + kOfLane * lane);
    const std::uint32_t there = left >= static_cast<int>(kOfLane) ? 0x80808080u
                                : left <= 0                       ? 0u
                                                                  : 0x80808080u >> (8 * (4 - left));
    std::uint32_t any = 0;
#pragma unroll
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
      const std::uint32_t four = plane_of(words, plane);
      if (first == 0) often[plane] = often_of(four);
      others[plane] += count_four(four, there, often[plane], state.counts[plane]);
      any |= four;
      if (plane == 0) zero_bytes += __popc(~bytes_not_0(four) & there);
    }
    zero_words += __popc(~bytes_not_0(any) & there);
  }
  zero_words = cuda::sum_of_lanes(zero_words);
  zero_bytes = cuda::sum_of_lanes(zero_bytes);
  PieceHead head{};
  head.is_sparse = kPlanes > 1 && zero_words > 0 && zero_words == zero_bytes &&
                   is_worth_packing(zero_words, values.count);
  head.kept = head.is_sparse ? values.count - zero_words : values.count;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    const std::uint32_t counted = cuda::sum_of_lanes(others[plane]);
    if (lane == 0) atomicAdd(state.counts[plane] + often[plane], values.count - counted);
    if (plane > 0 && lane == 0) atomicAdd(state.counts[plane], head.kept - values.count);
  }
  return head;
}

// Words on their way to a piece, the last one first.
struct WordsBack {
  std::uint16_t* at;
  int next;   // the place after the next one's
  int least;  // the first place that there is room for; if that was too little, `next` is below it
};

// One step of lanes that are there; all lanes call. `kAll` if all are there, and there is room.
template <bool kAll>
__device__ void take_step(std::uint32_t& state, const Step& step, bool is_there, WordsBack& words) {
  const bool gives = (kAll || is_there) && gives_word(state, step);
  const unsigned all = __ballot_sync(kAllLanes, gives);
  words.next -= __popc(all);
  const int place = words.next + __popc(all & ((1u << threadIdx.x % 32) - 1));
  if (gives && (kAll || place >= words.least)) words.at[place] = static_cast<std::uint16_t>(state);
  const std::uint32_t after = taken(gives ? state >> 16 : state, step);
  state = kAll || is_there ? after : state;
}

// Four bytes a lane of a plane, the last one first: those whose bit in `there` is 1.
template <bool kAll>
__device__ void take_four(std::uint32_t& state, std::uint32_t four, std::uint32_t there,
                          const Step* steps, WordsBack& words) {
  Step step[kOfLane];
#pragma unroll
  for (std::uint32_t each = 0; each < kOfLane; ++each)
    step[each] = steps[four >> (8 * each) & 0xff];
#pragma unroll
  for (std::uint32_t each = kOfLane; each-- > 0;) {
    take_step<kAll>(state, step[each], (there >> each & 1) != 0, words);
  }
}

// Stored planes of the own warp's piece to the beginning of `region`, words to its end; the last
// states in `own`. If words need more than their room the piece's head becomes one that is stored,
// and this is to be called again.
template <Dtype kType>
__device__ PieceHead PieceCoder<kType>::encode_piece(const Values& values, PieceHead head,
                                                     const PlaneSets& sets, std::byte* region,
                                                     std::uint32_t& own, std::uint32_t& lowest,
                                                     const State& state) {
  const std::uint32_t lane = threadIdx.x % 32;
  const Parts parts(values.count, head, sets);
  constexpr int kEnd = kPieceBytes / 2;
  const auto room = static_cast<int>(room_of<Word>(values.count, head.kept, sets.mixed));
  WordsBack words{.at = reinterpret_cast<std::uint16_t*>(region),
                  .next = kEnd,
                  .least = kEnd - (room - static_cast<int>(kStateBytes)) / 2};
  std::uint32_t kept = head.kept;
  own = kLeastState;
  lowest = 0;
  if (parts.has_states && room < static_cast<int>(kStateBytes)) {
    head.is_stored = true;
    return head;
  }
  std::uint32_t first = (values.count - 1) / kGroupValues * kGroupValues;
  // Values are on their way while those of the group after them are coded.
  Packed<Word> before = load_group<Word>(values, static_cast<int>(first));
#pragma unroll 1
  for (;; first -= kGroupValues) {
    const Packed<Word> values_here = before;
    before = load_group<Word>(values, static_cast<int>(first) - static_cast<int>(kGroupValues));
    const Packed<Word> packed = words_of(values, first, values_here, before);
    const std::uint32_t at = first + kOfLane * lane;
    const std::uint32_t there = there_of(static_cast<int>(values.count) - static_cast<int>(at));
    std::uint32_t others = there;  // the values that planes but the first have bytes of
    std::uint32_t place = at;      // in those planes
    if (head.is_sparse) {
      others &= not_0(plane_of(packed, 0));
      const std::uint32_t up_to = cuda::sum_up_to_lane(static_cast<std::uint32_t>(__popc(others)));
      kept -= __shfl_sync(kAllLanes, up_to, 31);
      place = kept + up_to - __popc(others);
    }
    const bool is_last = first + kGroupValues >= values.count;
    const bool is_easy = first + kGroupValues <= values.count && !head.is_sparse &&
                         words.next - words.least >= static_cast<int>(kPlanes * kGroupValues);
#pragma unroll
    for (std::uint32_t plane = kPlanes; plane-- > 0;) {
      const std::uint32_t four = plane_of(packed, plane);
      if ((parts.stored >> plane & 1) != 0) {
        std::byte* const to = region + parts.offset(plane);
        if (plane > 0 && head.is_sparse) {
          std::uint32_t to_place = place;
#pragma unroll
          for (std::uint32_t each = 0; each < kOfLane; ++each) {
            if ((others >> each & 1) == 0) continue;
            to[to_place++] = static_cast<std::byte>(four >> (8 * each));
          }
        } else if (parts.has_free && plane == parts.kLast && is_last) {
          *reinterpret_cast<std::uint16_t*>(to + first + 2 * lane) =
              static_cast<std::uint16_t>(four);
          own = first_state(four >> 16);
          lowest = __ballot_sync(kAllLanes, (four >> 16 & 1) != 0);
        } else if (there != 0) {
          *reinterpret_cast<std::uint32_t*>(to + at) = four;
        }
        continue;
      }
      if (!parts.has_states || (sets.mixed >> plane & 1) == 0) continue;
      if (is_easy) {
        take_four<true>(own, four, 0xf, state.steps[plane], words);
      } else {
        take_four<false>(own, four, plane == 0 ? there : others, state.steps[plane], words);
      }
    }
    if (parts.has_states && words.next < words.least) {
      head.is_stored = true;
      return head;
    }
    if (first == 0) break;
  }
  if (head.is_sparse) {  // what fills stored planes up
#pragma unroll
    for (std::uint32_t plane = 1; plane < kPlanes; ++plane) {
      if ((parts.stored >> plane & 1) != 0 && lane < filled(head.kept) - head.kept) {
        region[parts.offset(plane) + head.kept + lane] = std::byte{0};
      }
    }
  }
  head.words = static_cast<std::uint32_t>(kEnd - words.next);
  if (head.words % 2 != 0 && lane == 0) words.at[words.next - 1] = 0;
  return head;
}

// Moves the own warp's piece to its place among the others. For whole thread blocks; has a barrier
// between the loads and the stores of all warps.
template <Dtype kType>
__device__ void PieceCoder<kType>::move_piece(const Parts& parts, std::uint32_t own,
                                              std::uint32_t lowest, std::byte* region,
                                              std::byte* to) {
  constexpr std::uint32_t kRows = kPieceBytes / 4 / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t front = parts.offset(kPlanes) / 4, all = front + parts.word_bytes() / 4;
  const auto* const from = reinterpret_cast<const std::uint32_t*>(region);
  auto* const out = reinterpret_cast<std::uint32_t*>(to);
  std::uint32_t part[kRows];
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint32_t at = 32 * row + lane;
    if (32 * row >= all) break;
    part[row] = at < all ? from[at < front ? at : kPieceBytes / 4 - all + at] : 0;
  }
  __syncthreads();
  const std::uint32_t states = parts.state_bytes() / 4;
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint32_t at = 32 * row + lane;
    if (32 * row >= all) break;
    if (at < all) out[at < front ? at : at + states] = part[row];
  }
  if (parts.has_states) out[front + lane] = own;
  if (parts.has_free && lane == 0) out[front + kLanes] = lowest;
}

template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::encode(const cuda::Piece& piece, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::byte* const at = piece.at + warp * kPieceBytes;
  const Values values{.at = at,
                      .count = values_of_piece(warp, piece.values),
                      .tuple = static_cast<std::uint32_t>(parameter & ~kInPieces),
                      .fours = has_fours<Word>(at)};
  for (std::uint32_t each = threadIdx.x; each < kPlanes * kBytes; each += kThreads) {
    state.counts[each / kBytes][each % kBytes] = 0;
  }
  __syncthreads();
  PieceHead head{};
  if (values.count > 0) head = count_piece(values, state);
  if (lane == 0) state.kept[warp] = head.kept;
  __syncthreads();
  std::uint32_t kept = 0;
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) kept += state.kept[each];
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    const PlaneTable table = make_table(state.counts[plane], plane == 0 ? piece.values : kept);
    if (lane == 0) state.tables[plane] = table;
  }
  __syncthreads();
  const PlaneSets sets = sets_of(state.tables);
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (state.tables[plane].is_mixed) make_piece_steps(state.counts[plane], state.steps[plane]);
  }
  __syncthreads();
  auto* const out = reinterpret_cast<std::byte*>(payload);
  std::byte* const region = out + warp * kPieceBytes;
  std::uint32_t own = kLeastState, lowest = 0;
  if (values.count > 0) {
    const PieceHead first = head;
    head = encode_piece(values, first, sets, region, own, lowest, state);
    if (head.is_stored) head = encode_piece(values, head, sets, region, own, lowest, state);
  }
  if (lane == 0) state.heads[warp] = pack(head);
  __syncthreads();
  const std::uint32_t many = pieces_of(piece.values, kPieceValues<Word>);
  std::uint32_t tables = 4 + 4 * many;
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
  const Parts parts(values.count, head, values.count > 0 ? sets : PlaneSets{~0u, 0});
  move_piece(parts, own, lowest, region, out + begin);
  auto* const front = reinterpret_cast<std::uint32_t*>(payload);
  if (threadIdx.x == 0) front[0] = sets.coded;
  if (lane == 0 && warp < many) front[1 + warp] = state.heads[warp];
  std::uint32_t table = 4 + 4 * many;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if (state.tables[plane].is_coded && plane % kPieces == warp) {
      write_table(state.tables[plane], state.counts[plane], out + table);
    }
    table += state.tables[plane].bytes();
  }
  if (threadIdx.x < filled(tables) - tables) out[tables + threadIdx.x] = std::byte{0};
  __syncthreads();
  return end;
}

}  // namespace thinwire::codec::ans
