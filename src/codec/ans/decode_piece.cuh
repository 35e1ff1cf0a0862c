// The decoding side of chunk.cuh: a piece by one warp.
#pragma once

#include "codec/ans/chunk.cuh"

namespace thinwire::codec::ans {

// One step back of lanes that are there; the byte, above which there may be other bits. All lanes
// call.
template <typename Slots, typename Way>
__device__ std::uint32_t give_step(bool is_there, const Slots& slots, Way& way) {
  std::uint32_t byte;
  const std::uint32_t before = slots.back(way.state, byte);
  const bool needs = is_there && before < kLeastState;
  const unsigned all = __ballot_sync(kAllLanes, needs);
  const std::uint32_t place = way.next + __popc(all & ((1u << threadIdx.x % 32) - 1));
  const std::uint32_t with_word = before << 16 | way.words[place];
  if (is_there) way.state = needs ? with_word : before;
  way.next += __popc(all);
  return byte;
}

// The bytes of a plane of a group, 0 if they are not there.
template <bool kFull, bool kAll, typename Way>
__device__ std::uint32_t give_four(std::uint32_t there, const SlotsOf<kFull>& slots, Way& way) {
  std::uint32_t four = 0;
#pragma unroll
  for (std::uint32_t each = 0; each < kOfLane; ++each) {
    const bool is_there = kAll || (there >> each & 1) != 0;
    const std::uint32_t byte = give_step(is_there, slots, way);
    // The lowest byte of `byte` to this place.
    const std::uint32_t with = __byte_perm(four, byte, 0x3210 + (4 - each) * (1u << (4 * each)));
    four = is_there ? with : four;
  }
  return four;
}

// The values of folded differences, and of all before them.
template <typename Word>
__device__ Packed<Word> summed(const Packed<Word>& packed, Word& last) {
  Four<Word> sums = words_in(packed);
#pragma unroll
  for (Word& word : sums.of) word = unfold(word);
  add_up(sums, last);
  return Packed<Word>::of_words(sums);
}

// The groups of a piece that is not sparse and as large as pieces get, but for the last one if
// states have bytes of it; returns where those that are left begin.
template <Dtype kType>
template <bool kFull, typename Sink>
__device__ std::uint32_t PieceCoder<kType>::decode_whole_groups(
    const Parts& parts, const PlaneSets& sets, std::uint32_t tuple, Word& last, WayBack& way,
    const DecodeState& state, const Sink& sink) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t end = kPieceValues<Word> - (parts.has_free ? kGroupValues : 0);
  const std::uint32_t coded = parts.has_states ? sets.mixed : 0;
  const std::byte* in = way.in + kOfLane * lane;
  std::byte* out = way.out + kOfLane * sizeof(Word) * std::uint64_t{lane};
  std::uint32_t first = 0;
#pragma unroll 1
  for (; first < end && way.next <= parts.words; first += kGroupValues) {
    std::uint32_t four[kPlanes];
    const std::uint8_t* slots = state.slots;
    // The values that these are added to are on their way meanwhile.
    Packed<Word> there{};
    if (Sink::kAdds) there = load_four<Word>(out, kOfLane, true);
#pragma unroll
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
      if ((coded >> plane & 1) != 0) {
        four[plane] = give_four<kFull, true>(0xfu, SlotsOf<kFull>(slots), way);
      } else if ((parts.stored >> plane & 1) != 0) {
        const std::uint32_t before =
            kPieceValues<Word> * __popc(parts.stored & ((1u << plane) - 1));
        four[plane] = *reinterpret_cast<const std::uint32_t*>(in + before);
      } else {
        four[plane] = state.tables[plane].rest * 0x01010101u;
      }
      if ((sets.mixed >> plane & 1) != 0) slots += SlotsOf<kFull>::kEach;
    }
    Packed<Word> packed = joined<Word>(four);
    if (tuple == 1) packed = summed(packed, last);
    packed = signs_to_high(packed);
    if constexpr (Sink::kAdds) packed = sums_of(sink, there, packed);
    put_four(out, packed);
    in += kGroupValues;
    out += kGroupValues * sizeof(Word);
  }
  return first;
}

// The own warp's piece, from its bytes `in` shared memory to its values. False, for the warp, if
// it is damaged.
template <Dtype kType>
template <bool kFull, typename Sink>
__device__ bool PieceCoder<kType>::decode_piece(const Parts& parts, bool is_sparse,
                                                const PlaneSets& sets, const QuadSlots& quads,
                                                const std::byte* in, const cuda::Target& target,
                                                std::uint32_t tuple, DecodeState& state,
                                                const Sink& sink) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::byte* const out = target.at + threadIdx.x / 32 * kPieceBytes;
  const bool fours = has_fours<Word>(out);
  const std::uint32_t states_at = parts.offset(kPlanes);
  std::uint32_t own = kLeastState, lowest = 0;
  if (parts.has_states) {
    own = reinterpret_cast<const std::uint32_t*>(in + states_at)[lane];
    if (parts.has_free)
      lowest = *reinterpret_cast<const std::uint32_t*>(in + states_at + kStateBytes);
    if (__any_sync(kAllLanes, own < kLeastState || own >= kStateEnd)) return false;
  }
  WayBack way{.in = in,
              .out = out,
              .state = own,
              .words = reinterpret_cast<const std::uint16_t*>(in + parts.bytes() - 2 * parts.words),
              .next = 0};
  Chains<Word>& chains = state.chains[threadIdx.x / 32];
  if (tuple > 1) chains.clear();
  Word last = 0;
  std::uint32_t kept = 0, first = 0;
  if (fours && tuple < 2 && !is_sparse && parts.values == kPieceValues<Word>) {
    first = decode_whole_groups<kFull>(parts, sets, tuple, last, way, state, sink);
  }
  if (way.next > parts.words) return false;
#pragma unroll 1
  for (; first < parts.values; first += kGroupValues) {
    const std::uint32_t at = first + kOfLane * lane;
    const int left = static_cast<int>(parts.values) - static_cast<int>(at);
    const bool is_whole = first + kGroupValues <= parts.values;
    const std::uint32_t there = is_whole ? 0xfu : there_of(left);
    std::uint32_t others = there, place = at;
    const auto keep = [&](std::uint32_t bits) {
      others = there & bits;
      const std::uint32_t up_to = cuda::sum_up_to_lane(static_cast<std::uint32_t>(__popc(others)));
      place = kept + up_to - __popc(others);
      kept += __shfl_sync(kAllLanes, up_to, 31);
    };
    if (parts.has_mask) {
      std::uint32_t quad = 0;
      if (parts.has_states) {
        quad = give_step(there != 0, quads, way);
      } else if (there != 0) {
        quad = static_cast<std::uint32_t>(in[at / kOfLane]);
      }
      if (__any_sync(kAllLanes, there != 0 && (quad & ~there) != 0)) return false;
      keep(quad);
    }
    std::uint32_t four[kPlanes];
    const std::uint8_t* slots = state.slots;
#pragma unroll
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
      const bool is_packed = is_sparse && (plane > 0 || parts.has_mask);
      if ((parts.stored >> plane & 1) != 0) {
        const std::byte* const from = in + parts.offset(plane);
        if (is_packed) {
          four[plane] = 0;
          std::uint32_t from_place = place;
#pragma unroll
          for (std::uint32_t each = 0; each < kOfLane; ++each) {
            if ((others >> each & 1) == 0) continue;
            const std::uint32_t own_place = min(from_place++, parts.kept);
            four[plane] |= static_cast<std::uint32_t>(from[own_place]) << (8 * each);
          }
        } else if (parts.has_free && plane == parts.kLast && first + kGroupValues == parts.values) {
          four[plane] = *reinterpret_cast<const std::uint16_t*>(from + first + 2 * lane);
        } else {
          four[plane] = *reinterpret_cast<const std::uint32_t*>(from + at);
        }
      } else if (parts.has_states && (sets.mixed >> plane & 1) != 0) {
        const SlotsOf<kFull> own_slots(slots);
        four[plane] = give_four<kFull, false>(is_packed ? others : there, own_slots, way);
      } else {
        four[plane] = state.tables[plane].rest * 0x01010101u;
        if (is_packed) {
#pragma unroll
          for (std::uint32_t each = 0; each < kOfLane; ++each) {
            if ((others >> each & 1) == 0) four[plane] &= ~(0xffu << (8 * each));
          }
        }
      }
      if ((sets.mixed >> plane & 1) != 0) slots += SlotsOf<kFull>::kEach;
      if (plane == 0 && is_sparse && !parts.has_mask) keep(not_0(four[0]));
    }
    if (way.next > parts.words) return false;
    if (parts.has_free && first + kGroupValues == parts.values) {
      const std::uint32_t bits = (way.state & (kLeastState - 1)) << 1 | (lowest >> lane & 1);
      four[parts.kLast] |= bits << 16;
    }
    Packed<Word> packed = joined<Word>(four);
    if (tuple == 1) packed = summed(packed, last);
    if (tuple > 1) {
      Four<Word> sums = words_in(packed);
#pragma unroll
      for (Word& word : sums.of) word = unfold(word);
      chains.add_up(sums, tuple);
      packed = Packed<Word>::of_words(sums);
    }
    store_four(sink, out + at * sizeof(Word), signs_to_high(packed), left, fours);
  }
  const bool ends = parts.has_free ? is_first_state(way.state) : way.state == kLeastState;
  return way.next == parts.words && (!is_sparse || kept == parts.kept) &&
         __all_sync(kAllLanes, ends);
}

}  // namespace thinwire::codec::ans
