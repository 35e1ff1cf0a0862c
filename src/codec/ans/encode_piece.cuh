// The encoding side of chunk.cuh: a piece by one warp.
#pragma once

#include "codec/ans/chunk.cuh"

namespace thinwire::codec::ans {

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
                                                const Parts& parts, const PieceStep& quad, Way& way,
                                                const State& state) {
  const std::uint32_t lane = threadIdx.x % 32, at = first + kOfLane * lane;
  const std::uint32_t there = there_of(static_cast<int>(values.count) - static_cast<int>(at));
  std::uint32_t others = there;  // the values that packed planes have bytes of
  std::uint32_t place = at;      // in those planes
  if (is_sparse) {
    others &= parts.has_mask ? words_not_0(packed) : not_0(plane_of(packed, 0));
    const std::uint32_t up_to = cuda::sum_up_to_lane(static_cast<std::uint32_t>(__popc(others)));
    way.kept -= __shfl_sync(kAllLanes, up_to, 31);
    place = way.kept + up_to - __popc(others);
  }
#pragma unroll
  for (std::uint32_t plane = kPlanes; plane-- > 0;) {
    const std::uint32_t four = plane_of(packed, plane);
    if ((parts.stored >> plane & 1) != 0) {
      std::byte* const to = way.region + parts.offset(plane);
      if (is_sparse && (plane > 0 || parts.has_mask)) {
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
      take_four<false>(four, plane == 0 && !parts.has_mask ? there : others, state.steps[plane],
                       way);
    }
  }
  if (parts.has_mask && parts.has_states) {
    take_step<false>(step_of_lane(quad, others), there != 0, way);
  } else if (parts.has_mask && first / kOfLane + lane < parts.mask_bytes()) {
    way.region[first / kOfLane + lane] = static_cast<std::byte>(others);
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
                                                     const PlaneSets& sets, const PieceStep& quad,
                                                     std::byte* region, std::uint32_t& own,
                                                     std::uint32_t& lowest, const State& state) {
  const std::uint32_t lane = threadIdx.x % 32;
  const bool is_whole = is_easy(values) && !head.is_sparse;
  constexpr int kEnd = kPieceBytes / 2;
  const auto room = static_cast<int>(room_of<Word>(values.count, head, sets));
  const bool has_mask = sets.masked && head.is_sparse;
  head.is_stored = (sets.mixed != 0 || has_mask) && room < static_cast<int>(kStateBytes);
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
      has_room = encode_group(values, packed, first, head.is_sparse, parts, quad, way, state);
      end = first;
    }
    if (!has_room) {
      head.is_stored = true;
      continue;
    }
    if (head.is_sparse) {  // what fills stored planes up
#pragma unroll
      for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
        if (plane == 0 && !has_mask) continue;
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

}  // namespace thinwire::codec::ans
