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

// Counts the bytes of a plane: four a lane, or those whose bit in `there` is 1. Lanes with the same
// byte do not wait for each other, as nobody asks what the number was before.
template <bool kWhole>
__device__ void count_four(std::uint32_t four, std::uint32_t there, std::uint32_t* counts) {
#pragma unroll
  for (std::uint32_t at = 0; at < kOfLane; ++at) {
    if (kWhole || (there >> at & 1) != 0) atomicAdd(counts + (four >> (8 * at) & 0xff), 1u);
  }
}

// The planes of a whole chunk that are to be counted, a bit each. Counts are 0 before and after.
// For whole thread blocks; has barriers.
template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::likely_planes(const Values& values, Counts& counts,
                                                          State& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t first = sample_at<Word>(warp);
  const int before = static_cast<int>(first) - static_cast<int>(kGroupValues);
  const Packed<Word> words =
      words_of<false>(values, first, load_group<Word>(values, static_cast<int>(first)),
                      load_group<Word>(values, before));
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    count_four<true>(plane_of(words, plane), 0xf, counts[plane]);
  }
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    std::uint32_t pairs = 0;
#pragma unroll
    for (std::uint32_t byte = lane; byte < kBytes; byte += kLanes) {
      const std::uint32_t times = counts[plane][byte];
      pairs += times * (times - 1);
      counts[plane][byte] = 0;
    }
    pairs = cuda::sum_of_lanes(pairs);
    if (lane == 0) state.is_likely[plane] = pairs >= kLeastPairs;
  }
  __syncthreads();
  std::uint32_t planes = 0;
#pragma unroll
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    planes |= std::uint32_t{state.is_likely[plane]} << plane;
  }
  return planes;
}

// Counts the bytes of some planes of the own warp's piece; `kWhole` if it is as large as pieces
// get. Whether a byte of plane 0 is 0.
template <Dtype kType>
template <bool kWhole>
__device__ bool PieceCoder<kType>::count_groups(const Values& values, std::uint32_t planes,
                                                Counts& counts) {
  // Groups whose values are on their way at the same time.
  constexpr std::uint32_t kAtOnce = !kWhole ? 1 : sizeof(Word) >= 8 ? 1 : sizeof(Word) == 4 ? 2 : 4;
  static_assert(kPieceValues<Word> % (kAtOnce * kGroupValues) == 0);
  const auto load = [&](std::uint32_t first) {
    return kWhole ? load_whole_group<Word>(values.at, first)
                  : load_group<Word>(values, static_cast<int>(first));
  };
  Packed<Word> before{}, next[kAtOnce];
#pragma unroll
  for (std::uint32_t each = 0; each < kAtOnce; ++each) next[each] = load(each * kGroupValues);
  std::uint32_t zeros = 0;
#pragma unroll 1
  for (std::uint32_t first = 0; first < values.count; first += kAtOnce * kGroupValues) {
    Packed<Word> own[kAtOnce];
#pragma unroll
    for (std::uint32_t each = 0; each < kAtOnce; ++each) own[each] = next[each];
    if (first + kAtOnce * kGroupValues < values.count) {
#pragma unroll
      for (std::uint32_t each = 0; each < kAtOnce; ++each) {
        next[each] = load(first + (kAtOnce + each) * kGroupValues);
      }
    }
#pragma unroll
    for (std::uint32_t each = 0; each < kAtOnce; ++each) {
      const std::uint32_t group = first + each * kGroupValues;
      const Packed<Word> words = words_of<kWhole>(values, group, own[each], before);
      before = own[each];
      const std::uint32_t there =
          kWhole ? 0xfu
                 : there_of(static_cast<int>(values.count) -
                            static_cast<int>(group + kOfLane * (threadIdx.x % 32)));
#pragma unroll
      for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
        const std::uint32_t four = plane_of(words, plane);
        if ((planes >> plane & 1) != 0) count_four<kWhole>(four, there, counts[plane]);
        if (plane == 0) zeros |= (four - 0x01010101u) & ~four & 0x80808080u;
      }
    }
  }
  return __any_sync(kAllLanes, zeros != 0);
}

// The same, and what the piece's head says of its zeros.
template <Dtype kType>
__device__ PieceHead PieceCoder<kType>::count_piece(const Values& values, std::uint32_t planes,
                                                    Counts& counts) {
  PieceHead head{.words = 0, .kept = values.count, .is_stored = false, .is_sparse = false};
  const bool is_whole = is_easy(values);
  const bool has_zeros = is_whole ? count_groups<true>(values, planes, counts)
                                  : count_groups<false>(values, planes, counts);
  if (kPlanes == 1 || !has_zeros) return head;
  std::uint32_t zero_words = 0, zero_bytes = 0;
  Packed<Word> before{};
#pragma unroll 1
  for (std::uint32_t first = 0; first < values.count; first += kGroupValues) {
    const Packed<Word> own = load_group<Word>(values, static_cast<int>(first));
    const Packed<Word> words = words_of<false>(values, first, own, before);
    before = own;
    std::uint32_t any = 0;
#pragma unroll
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) any |= plane_of(words, plane);
    const std::uint32_t there = there_of(static_cast<int>(values.count) -
                                         static_cast<int>(first + kOfLane * (threadIdx.x % 32)));
    zero_words += __popc(there & ~not_0(any));
    zero_bytes += __popc(there & ~not_0(plane_of(words, 0)));
  }
  zero_words = cuda::sum_of_lanes(zero_words);
  zero_bytes = cuda::sum_of_lanes(zero_bytes);
  head.is_sparse =
      zero_words > 0 && zero_words == zero_bytes && is_worth_packing(zero_words, values.count);
  if (!head.is_sparse) return head;
  head.kept = values.count - zero_words;
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (std::uint32_t plane = 1; plane < kPlanes; ++plane) {
      atomicAdd(counts[plane], head.kept - values.count);
    }
  }
  return head;
}

// One step of lanes that are there; all lanes call. `kAll` if all are there, and there is room.
template <bool kAll, typename Way>
__device__ void take_step(const PieceStep& step, bool is_there, Way& way) {
  const bool gives = (kAll || is_there) && step.gives(way.state);
  const unsigned all = __ballot_sync(kAllLanes, gives);
  way.next -= __popc(all);
  const int place = way.next + __popc(all & ((1u << threadIdx.x % 32) - 1));
  if (gives && (kAll || place >= way.least)) {
    reinterpret_cast<std::uint16_t*>(way.region)[place] = static_cast<std::uint16_t>(way.state);
  }
  const std::uint32_t state = gives ? way.state >> 16 : way.state;
  const std::uint32_t quotient = high_product(state, step.factor) >> step.shift();
  const std::uint32_t after = state + step.start() + quotient * step.others();
  way.state = kAll || is_there ? after : way.state;
}

// Four bytes a lane of a plane, the last one first: those whose bit in `there` is 1.
template <bool kAll, typename Way>
__device__ void take_four(std::uint32_t four, std::uint32_t there, const PieceStep* steps,
                          Way& way) {
  PieceStep step[kOfLane];
#pragma unroll
  for (std::uint32_t each = 0; each < kOfLane; ++each) {
    step[each] = steps[four >> (8 * each) & 0xff];
  }
#pragma unroll
  for (std::uint32_t each = kOfLane; each-- > 0;) {
    take_step<kAll>(step[each], (there >> each & 1) != 0, way);
  }
}

// Any group, of values that are there and not. False, for the warp, if words need more than their
// room.
template <Dtype kType>
__device__ bool PieceCoder<kType>::encode_group(const Values& values, const Packed<Word>& packed,
                                                std::uint32_t first, bool is_sparse,
                                                const Parts& parts, Way& way, const State& state) {
  const std::uint32_t lane = threadIdx.x % 32, at = first + kOfLane * lane;
  const std::uint32_t there = there_of(static_cast<int>(values.count) - static_cast<int>(at));
  std::uint32_t others = there;  // the values that planes but the first have bytes of
  std::uint32_t place = at;      // in those planes
  if (is_sparse) {
    others &= not_0(plane_of(packed, 0));
    const std::uint32_t up_to = cuda::sum_up_to_lane(static_cast<std::uint32_t>(__popc(others)));
    way.kept -= __shfl_sync(kAllLanes, up_to, 31);
    place = way.kept + up_to - __popc(others);
  }
#pragma unroll
  for (std::uint32_t plane = kPlanes; plane-- > 0;) {
    const std::uint32_t four = plane_of(packed, plane);
    if ((parts.stored >> plane & 1) != 0) {
      std::byte* const to = way.region + parts.offset(plane);
      if (plane > 0 && is_sparse) {
        std::uint32_t to_place = place;
#pragma unroll
        for (std::uint32_t each = 0; each < kOfLane; ++each) {
          if ((others >> each & 1) == 0) continue;
          to[to_place++] = static_cast<std::byte>(four >> (8 * each));
        }
      } else if (parts.has_free && plane == parts.kLast && first + kGroupValues == values.count) {
        *reinterpret_cast<std::uint16_t*>(to + first + 2 * lane) = static_cast<std::uint16_t>(four);
        way.state = first_state(four >> 16);
        way.lowest = __ballot_sync(kAllLanes, (four >> 16 & 1) != 0);
      } else if (there != 0) {
        *reinterpret_cast<std::uint32_t*>(to + at) = four;
      }
    } else if (parts.has_states && (parts.mixed >> plane & 1) != 0) {
      take_four<false>(four, plane == 0 ? there : others, state.steps[plane], way);
    }
  }
  return !parts.has_states || way.next >= way.least;
}

// The groups of a piece that is not sparse and as large as pieces get, from the last one on, while
// there is room for any words; returns where those that are left end.
template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::encode_whole_groups(const Values& values,
                                                                const Parts& parts, Way& way,
                                                                const State& state) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t coded = parts.has_states ? parts.mixed : 0;
  const int most = static_cast<int>(kGroupValues) * __popc(coded);
  std::uint32_t first = kPieceValues<Word>;
  constexpr std::uint32_t kGroupBytes = kGroupValues * sizeof(Word);
  const std::byte* at =
      values.at + kPieceBytes - kGroupBytes + kOfLane * sizeof(Word) * std::uint64_t{lane};
  Packed<Word> before = load_four<Word>(at, kOfLane, true);
#pragma unroll 1
  while (first > 0 && way.next - way.least >= most) {
    first -= kGroupValues;
    // Values are on their way while those of the group after them are coded.
    const Packed<Word> own = before;
    before = Packed<Word>{};
    at -= kGroupBytes;
    if (first > 0) before = load_four<Word>(at, kOfLane, true);
    const Packed<Word> packed = words_of<true>(values, first, own, before);
    std::byte* const to = way.region + first + kOfLane * lane;
#pragma unroll
    for (std::uint32_t plane = kPlanes; plane-- > 0;) {
      const std::uint32_t four = plane_of(packed, plane);
      if ((coded >> plane & 1) != 0) {
        take_four<true>(four, 0xf, state.steps[plane], way);
      } else if ((parts.stored >> plane & 1) != 0) {
        // Planes before this one are whole.
        const std::uint32_t before_it =
            kPieceValues<Word> * __popc(parts.stored & ((1u << plane) - 1));
        if (plane == parts.kLast && parts.has_free && first + kGroupValues == kPieceValues<Word>) {
          *reinterpret_cast<std::uint16_t*>(to + before_it - 2 * lane) =
              static_cast<std::uint16_t>(four);
          way.state = first_state(four >> 16);
          way.lowest = __ballot_sync(kAllLanes, (four >> 16 & 1) != 0);
        } else {
          *reinterpret_cast<std::uint32_t*>(to + before_it) = four;
        }
      }
    }
  }
  return first;
}

// Stored planes of the own warp's piece to the beginning of `region`, words to its end; the last
// states in `own`. If words need more than their room the piece becomes a stored one.
template <Dtype kType>
__device__ PieceHead PieceCoder<kType>::encode_piece(const Values& values, PieceHead head,
                                                     const PlaneSets& sets, std::byte* region,
                                                     std::uint32_t& own, std::uint32_t& lowest,
                                                     const State& state) {
  const std::uint32_t lane = threadIdx.x % 32;
  const bool is_whole = is_easy(values) && !head.is_sparse;
  constexpr int kEnd = kPieceBytes / 2;
  const auto room = static_cast<int>(room_of<Word>(values.count, head.kept, sets.mixed));
  head.is_stored = sets.mixed != 0 && room < static_cast<int>(kStateBytes);
#pragma unroll 1
  for (;;) {
    const Parts parts(values.count, head, sets);
    Way way{.region = region,
            .state = kLeastState,
            .lowest = 0,
            .next = kEnd,
            .least = parts.has_states ? kEnd - (room - static_cast<int>(kStateBytes)) / 2 : 0,
            .kept = head.kept};
    std::uint32_t end = values.count;  // of the groups that are left
    if (is_whole) end = encode_whole_groups(values, parts, way, state);
    bool has_room = true;
#pragma unroll 1
    while (end > 0 && has_room) {
      const std::uint32_t first = (end - 1) / kGroupValues * kGroupValues;
      const int before = static_cast<int>(first) - static_cast<int>(kGroupValues);
      const Packed<Word> packed =
          words_of<false>(values, first, load_group<Word>(values, static_cast<int>(first)),
                          load_group<Word>(values, before));
      has_room = encode_group(values, packed, first, head.is_sparse, parts, way, state);
      end = first;
    }
    if (!has_room) {
      head.is_stored = true;
      continue;
    }
    if (head.is_sparse) {  // what fills stored planes up
#pragma unroll
      for (std::uint32_t plane = 1; plane < kPlanes; ++plane) {
        if ((parts.stored >> plane & 1) != 0 && lane < filled(head.kept) - head.kept) {
          region[parts.offset(plane) + head.kept + lane] = std::byte{0};
        }
      }
    }
    head.words = static_cast<std::uint32_t>(kEnd - way.next);
    if (head.words % 2 != 0 && lane == 0) {
      reinterpret_cast<std::uint16_t*>(region)[way.next - 1] = 0;
    }
    own = way.state;
    lowest = way.lowest;
    return head;
  }
}

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

template <Dtype kType>
__device__ std::uint32_t PieceCoder<kType>::encode(const cuda::Piece& piece, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::byte* const at = piece.at + warp * kPieceBytes;
  const Values values{.at = at,
                      .count = values_of_piece(warp, piece.values),
                      .tuple = static_cast<std::uint32_t>(parameter & ~kInPieces),
                      .fours = has_fours<Word>(at)};
  auto& counts = *reinterpret_cast<Counts*>(payload);
#pragma unroll
  for (std::uint32_t each = 0; each < kPlanes * kBytes; each += kThreads) {
    counts[0][each + threadIdx.x] = 0;
  }
  __syncthreads();
  std::uint32_t likely = ~0u;
  if (piece.values == kCutChunkValues<Word>) likely = likely_planes(values, counts, state);
  PieceHead head{};
  if (values.count > 0) head = count_piece(values, likely, counts);
  if (lane == 0) state.kept[warp] = head.kept;
  __syncthreads();
  std::uint32_t kept = 0;
#pragma unroll
  for (std::uint32_t each = 0; each < kPieces; ++each) kept += state.kept[each];
#pragma unroll 1
  for (std::uint32_t plane = warp; plane < kPlanes; plane += kPieces) {
    PlaneTable table{};
    if ((likely >> plane & 1) != 0) {
      table = make_table(counts[plane], plane == 0 ? piece.values : kept);
    }
    if (lane == 0) state.tables[plane] = table;
    __syncwarp();
    if (table.is_coded) write_table(table, counts[plane], state.table_bytes[plane]);
  }
  __syncthreads();
  const PlaneSets sets = sets_of(state.tables);
#pragma unroll 1
  for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
    if ((sets.mixed >> plane & 1) == 0) continue;
    make_piece_steps(counts[plane], state.tables[plane].rest, state.steps[plane]);
  }
  __syncthreads();
  auto* const out = reinterpret_cast<std::byte*>(payload);
  std::byte* const region = out + warp * kPieceBytes;
  std::uint32_t own = kLeastState, lowest = 0;
  if (values.count > 0) {
    head = encode_piece(values, head, sets, region, own, lowest, state);
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
