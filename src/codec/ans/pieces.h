// Definitions of the bytes of a chunk that is cut into pieces, each of which has states of its own.
// Host and device code. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/ans/format.h"
#include "codec/ans/frequencies.h"

namespace thinwire::codec::ans {

// The bit of a parameter that says that chunks are cut into pieces; those of version 0 are not.
inline constexpr std::uint64_t kInPieces = 256;

inline constexpr std::uint32_t kPieces = 4;
inline constexpr std::uint32_t kPieceBytes = 8192;
inline constexpr std::uint32_t kChunkBytes = kPieces * kPieceBytes;
inline constexpr std::uint32_t kOfLane = 4;  // values of a lane in a group
inline constexpr std::uint32_t kGroupValues = kOfLane * kLanes;
inline constexpr std::uint32_t kFreeBytes = 2 * kLanes;  // of the last group, in first states
inline constexpr std::uint32_t kFreeBits = kLanes / 8;   // their lowest bits
inline constexpr std::uint32_t kQuads = 16;              // what a mask may say of four values
inline constexpr std::uint32_t kMaskTableBytes = kQuads * 6 / 8;

template <typename Word>
inline constexpr std::uint32_t kPieceValues = kPieceBytes / sizeof(Word);

template <typename Word>
inline constexpr std::uint32_t kChunkValues = kPieces * kPieceValues<Word>;

// Most bytes before the pieces of a chunk.
inline constexpr std::uint32_t kMostFrontBytes =
    4 + 4 * kPieces + kMaskTableBytes + 8 * kMostTableBytes + 4;

THINWIRE_HOST_DEVICE constexpr std::uint32_t pieces_of(std::uint32_t values,
                                                       std::uint32_t piece_values) {
  return (values + piece_values - 1) / piece_values;
}

struct PieceHead {
  std::uint32_t words;  // of 16 bits
  std::uint32_t kept;   // bytes of every plane, but the first one if there is no mask
  bool is_stored;       // has no states: coded planes of different bytes are stored, too
  bool is_sparse;
};

THINWIRE_HOST_DEVICE constexpr std::uint32_t pack(const PieceHead& head) {
  return std::uint32_t{head.is_sparse} << 31 | head.kept << 16 |
         std::uint32_t{head.is_stored} << 15 | head.words;
}

THINWIRE_HOST_DEVICE constexpr PieceHead unpack_piece(std::uint32_t word) {
  return {.words = word & 0x7fff,
          .kept = word >> 16 & 0x7fff,
          .is_stored = (word >> 15 & 1) != 0,
          .is_sparse = word >> 31 != 0};
}

// Whether a piece is sparse that has so many words of 0 and no others whose highest byte is 0: a
// few would cost more than they save.
THINWIRE_HOST_DEVICE constexpr bool is_worth_packing(std::uint32_t zeros, std::uint32_t values) {
  return 128 * zeros >= values;
}

// Whether a piece may have a mask: with that it is never longer than its values.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr bool may_have_mask(std::uint32_t zeros, std::uint32_t values) {
  constexpr auto kPlanes = static_cast<std::uint32_t>(sizeof(Word));
  return kPlanes > 1 && 4 * kPlanes * zeros >= values + 32 * kPlanes;
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t quads_of(std::uint32_t values) {
  return (values + kOfLane - 1) / kOfLane;
}

// Whether masks are considered for a chunk, with so many words of 0 in pieces that may have one,
// and whether they are worth it, given the bytes of tables and planes with them and without.
THINWIRE_HOST_DEVICE constexpr bool may_be_masked(std::uint32_t zeros, std::uint32_t values) {
  return zeros > 0 && 64 * zeros >= values;
}
THINWIRE_HOST_DEVICE constexpr bool is_worth_masking(std::uint32_t with, std::uint32_t without) {
  return 64 * with <= 63 * without;
}

// Planes of a whole chunk are sampled before their bytes are counted: a group of each piece, of
// which these are the first values.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t sample_at(std::uint32_t piece) {
  constexpr std::uint32_t kGroups = kPieceValues<Word> / kGroupValues;
  return (piece * (kGroups / kPieces) + kGroups / (2 * kPieces)) * kGroupValues;
}

// Pairs of equal bytes of a sample from which on a plane is counted. Bytes that are equally
// frequent have 1022, with a deviation of 45.
inline constexpr std::uint32_t kLeastPairs = 1100;

// The planes of a chunk, a bit each.
struct PlaneSets {
  std::uint32_t coded;
  std::uint32_t mixed;  // those of the coded ones that have two different bytes or more
  bool masked = false;  // sparse pieces have masks
};

// The first word of a payload: the coded planes, and after them the bit of a mask.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t pack(const PlaneSets& sets) {
  return sets.coded | std::uint32_t{sets.masked} << sizeof(Word);
}
template <typename Word>
THINWIRE_HOST_DEVICE constexpr bool has_mask(std::uint32_t word) {
  return sizeof(Word) > 1 && (word >> sizeof(Word) & 1) != 0;
}
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t coded_of(std::uint32_t word) {
  return has_mask<Word>(word) ? word ^ 1u << sizeof(Word) : word;
}

// The places of the parts of a piece.
template <typename Word>
struct PieceParts {
  static constexpr std::uint32_t kPlanes = sizeof(Word);
  static constexpr std::uint32_t kLast = kPlanes - 1;

  std::uint32_t values, kept, words;
  std::uint32_t stored;  // a bit for each plane whose bytes are there
  std::uint32_t mixed;   // of the chunk
  bool has_mask;
  bool has_states;
  bool has_free;  // of the last plane's last group half the bytes are in the first states

  THINWIRE_HOST_DEVICE constexpr PieceParts(std::uint32_t count, const PieceHead& head,
                                            const PlaneSets& planes)
      : values(count),
        kept(head.kept),
        words(head.words),
        stored(((1u << kPlanes) - 1) & ~planes.coded),
        mixed(planes.mixed),
        has_mask(planes.masked && head.is_sparse),
        has_states((planes.mixed != 0 || has_mask) && !head.is_stored),
        has_free(false) {
    if (!has_states) stored |= planes.mixed;
    has_free = has_states && kPlanes > 1 && !head.is_sparse && values % kGroupValues == 0 &&
               (stored >> kLast & 1) != 0;
  }

  THINWIRE_HOST_DEVICE constexpr std::uint32_t size_of(std::uint32_t plane) const {
    return plane == 0 && !has_mask ? values : kept;
  }
  // A stored mask comes before the planes.
  THINWIRE_HOST_DEVICE constexpr std::uint32_t mask_bytes() const {
    return has_mask && !has_states ? filled(quads_of(values)) : 0;
  }
  THINWIRE_HOST_DEVICE constexpr std::uint32_t stored_bytes(std::uint32_t plane) const {
    if ((stored >> plane & 1) == 0) return 0;
    return filled(size_of(plane)) - (has_free && plane == kLast ? kFreeBytes : 0);
  }
  // The offset of a stored plane, and of the states if there are no more planes.
  THINWIRE_HOST_DEVICE constexpr std::uint32_t offset(std::uint32_t plane) const {
    std::uint32_t at = mask_bytes();
    THINWIRE_UNROLL
    for (std::uint32_t other = 0; other < kPlanes; ++other) {
      at += other < plane ? stored_bytes(other) : 0;
    }
    return at;
  }
  THINWIRE_HOST_DEVICE constexpr std::uint32_t state_bytes() const {
    return has_states ? kStateBytes + (has_free ? kFreeBits : 0) : 0;
  }
  // Words lie at the end of a piece, after what fills them up.
  THINWIRE_HOST_DEVICE constexpr std::uint32_t word_bytes() const { return filled(2 * words); }
  THINWIRE_HOST_DEVICE constexpr std::uint32_t bytes() const {
    return offset(kPlanes) + state_bytes() + word_bytes();
  }
};

// Most bytes of states and words of a piece that is not to be stored: those of its mixed planes,
// and of a mask.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint32_t room_of(std::uint32_t values, const PieceHead& head,
                                                     const PlaneSets& sets) {
  const bool has_mask = sets.masked && head.is_sparse;
  std::uint32_t room = has_mask ? filled(quads_of(values)) : 0;
  THINWIRE_UNROLL
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::uint32_t size = plane == 0 && !has_mask ? values : head.kept;
    if ((sets.mixed >> plane & 1) != 0) room += filled(size);
  }
  return room;
}

// Checks that a piece's head, hostile or not, can be that of a piece of so many values.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr bool is_sound(const PieceHead& head, std::uint32_t values,
                                             const PlaneSets& sets) {
  if (head.is_sparse ? sizeof(Word) == 1 || head.kept >= values : head.kept != values) return false;
  const bool has_mask = sets.masked && head.is_sparse;
  if (has_mask && !may_have_mask<Word>(values - head.kept, values)) return false;
  const bool may_have_states = sets.mixed != 0 || has_mask;
  if (head.is_stored || !may_have_states)
    return head.words == 0 && head.is_stored == may_have_states;
  return kStateBytes + 2 * head.words <= room_of<Word>(values, head, sets);
}

// The first state of a lane that has these 16 bits of a stored plane, the lowest one aside, and the
// bits of a last state.
THINWIRE_HOST_DEVICE constexpr std::uint32_t first_state(std::uint32_t bits) {
  return kLeastState | bits >> 1;
}
THINWIRE_HOST_DEVICE constexpr bool is_first_state(std::uint32_t state) { return state >> 15 == 1; }

}  // namespace thinwire::codec::ans
