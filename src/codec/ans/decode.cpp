// Payloads to chunks, on the host.
#include <algorithm>
#include <array>

#include "codec/ans/kept.h"
#include "codec/ans/masks.h"
#include "codec/ans/models.h"
#include "codec/ans/payload.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"
#include "codec/ans/states.h"

namespace thinwire::codec::ans {
namespace {

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }

// The planes of a piece, with a byte for every value.
template <typename Word>
struct PiecePlanes {
  alignas(64) std::byte of[sizeof(Word)][kPieceValues<Word>];
  std::byte mask[kPieceValues<Word>];  // of pieces that have one
  std::byte quads[kPieceValues<Word> / kOfLane];
};

// A stored plane but for the bytes that states have.
template <typename Word>
void copy_last_plane(const PieceParts<Word>& parts, const std::byte* from, std::byte* to) {
  const std::uint32_t whole = parts.values - kGroupValues;
  std::copy_n(from, whole, to);
  for (std::uint32_t at = 0; at < kFreeBytes; at += 2) {
    std::copy_n(from + whole + at, 2, to + whole + 2 * at);
  }
}

// The mixed planes of a piece that has states. `bytes` are states and words.
template <typename Word>
bool read_mixed(const PieceParts<Word>& parts, const Models<Word, Slots>& models,
                const std::byte* bytes, bool is_sparse, PiecePlanes<Word>& planes) {
  States states;
  if (!read_states(bytes, states)) return false;
  LinesToGive lines;
  lines.values = parts.values;
  lines.mask = parts.has_mask ? planes.mask : is_sparse ? planes.of[0] : nullptr;
  if (parts.has_mask) {
    lines.quads = planes.quads;
    lines.quad_numbers = &models.mask_numbers;
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if (!models.is_mixed(plane)) continue;
    lines.add(planes.of[plane], models.numbers[plane], parts.has_mask || (is_sparse && plane > 0));
  }
  alignas(64) std::byte memory[kPieceBytes + kMostGroupBytes];
  const std::uint32_t words = 2 * parts.words;
  std::copy_n(bytes + parts.state_bytes() + parts.word_bytes() - words, words, memory);
  std::fill_n(memory + words, kMostGroupBytes, std::byte{0});
  if (!give_piece(states, lines, {memory, words})) return false;
  // Only a last group that is not whole can have bits of values that there are not.
  const std::uint32_t beyond = parts.values % kOfLane;
  if (parts.has_mask && beyond != 0 &&
      planes.quads[parts.values / kOfLane] >> beyond != std::byte{0}) {
    return false;
  }
  if (!parts.has_free) return are_least(states);
  if (!std::ranges::all_of(states, is_first_state)) return false;
  const auto lowest = load<std::uint32_t>(bytes + kStateBytes);
  std::byte* const last = planes.of[parts.kLast] + parts.values - kGroupValues;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t bits = (states[lane] & (kLeastState - 1)) << 1 | (lowest >> lane & 1);
    store(last + kOfLane * lane + 2, static_cast<std::uint16_t>(bits));
  }
  return true;
}

// The planes of a piece that is not sparse, those that are mixed aside. Stored ones stay in the
// payload.
template <typename Word>
void read_dense(const PieceParts<Word>& parts, const Models<Word, Slots>& models,
                const std::byte* bytes, PiecePlanes<Word>& planes, Planes& joined) {
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::byte* const from = bytes + parts.offset(plane);
    if ((parts.stored >> plane & 1) == 0) {
      if (models.is_mixed(plane)) continue;
      std::fill_n(planes.of[plane], parts.values, std::byte{models.of[plane].only_byte()});
    } else if (parts.has_free && plane == parts.kLast) {
      copy_last_plane(parts, from, planes.of[plane]);
    } else {
      joined.place[plane] = from;
    }
  }
}

// Plane 0 of a sparse piece without a mask, unless it is mixed and has states.
template <typename Word>
void read_highest(const PieceParts<Word>& parts, const Models<Word, Slots>& models,
                  const std::byte* bytes, PiecePlanes<Word>& planes) {
  if ((parts.stored & 1) != 0) {
    std::copy_n(bytes, parts.values, planes.of[0]);
  } else if (!models.is_mixed(0)) {
    std::fill_n(planes.of[0], parts.values, std::byte{models.of[0].only_byte()});
  }
}

// The planes whose values `mask` has, but for mixed ones that have states. False if these values
// are not as many as the piece's head says.
template <typename Word>
bool read_packed(const PieceParts<Word>& parts, const Models<Word, Slots>& models,
                 const std::byte* bytes, PiecePlanes<Word>& planes) {
  const std::byte* const mask = parts.has_mask ? planes.mask : planes.of[0];
  KeptValues<Word> kept;
  kept.find(mask, parts.values);
  if (kept.count() != parts.kept) return false;
  for (std::uint32_t plane = parts.has_mask ? 0 : 1; plane < sizeof(Word); ++plane) {
    const bool is_stored = (parts.stored >> plane & 1) != 0;
    if (!is_stored && models.is_mixed(plane)) continue;
    std::byte* const to = planes.of[plane];
    if (is_stored) {
      std::fill_n(to, parts.values, std::byte{0});
      kept.unpack(bytes + parts.offset(plane), to);
      continue;
    }
    const std::byte byte{models.of[plane].only_byte()};
    for (std::uint32_t at = 0; at < parts.values; ++at) {
      to[at] = mask[at] != std::byte{0} ? byte : std::byte{0};
    }
  }
  return true;
}

template <typename Word>
bool read_piece(const PieceParts<Word>& parts, const Models<Word, Slots>& models, bool is_sparse,
                const std::byte* bytes, std::uint32_t tuple, std::byte* out) {
  PiecePlanes<Word> planes;
  Planes joined{.place = {}, .values = parts.values, .kept = parts.values};
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    joined.place[plane] = planes.of[plane];
  }
  if (parts.has_mask) {
    if (!parts.has_states && !spread_quads(bytes, parts.values, planes.mask)) return false;
  } else if (is_sparse) {
    read_highest(parts, models, bytes, planes);
  } else {
    read_dense(parts, models, bytes, planes, joined);
  }
  const std::byte* const states = bytes + parts.offset(sizeof(Word));
  if (parts.has_states && !read_mixed(parts, models, states, is_sparse, planes)) return false;
  if (is_sparse && !read_packed(parts, models, bytes, planes)) return false;
  return join<Word>(joined, tuple, out);
}

}  // namespace

template <typename Word>
Status decode_pieces(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
  if (encoded.size() < 4 + 4 * many) return damaged("ans: shorter than its heads");
  const auto front = load<std::uint32_t>(encoded.data());
  const std::uint32_t coded = coded_of<Word>(front);
  if (coded >> sizeof(Word) != 0) return damaged("ans: its head is none of such a chunk");
  ByteView bytes = encoded.subspan(4 + 4 * many);
  Models<Word, Slots> models;
  models.sets.masked = has_mask<Word>(front);
  if (models.sets.masked) {
    if (bytes.size() < kMaskTableBytes || !models.mask.read_mask(bytes.data())) {
      return damaged("ans: the table of a mask is none");
    }
    models.mask.make(models.mask_numbers);
    bytes = bytes.subspan(kMaskTableBytes);
  }
  if (!read_models(coded, bytes, models)) return damaged("ans: a table is none");
  for (std::uint32_t number = 0; number < many; ++number) {
    const PieceHead head = unpack_piece(load<std::uint32_t>(encoded.data() + 4 + 4 * number));
    const Range range = range_of<Word>(number, values);
    if (!is_sound<Word>(head, range.values, models.sets)) {
      return damaged("ans: the head of a piece is none");
    }
    const PieceParts<Word> parts(range.values, head, models.sets);
    if (parts.bytes() > bytes.size()) return damaged("ans: shorter than its pieces");
    if (!read_piece(parts, models, head.is_sparse, bytes.data(), tuple,
                    out + range.first * sizeof(Word))) {
      return damaged("ans: a piece is none");
    }
    bytes = bytes.subspan(parts.bytes());
  }
  if (!bytes.empty()) return damaged("ans: longer than its pieces");
  return {};
}

#define THINWIRE_WORD(Word, name) \
  template Status decode_pieces<Word>(ByteView, std::uint32_t, std::uint32_t, std::byte*);
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
