// Chunks to payloads, on the host.
#include <algorithm>
#include <array>
#include <span>

#include "codec/ans/payload.h"
#include "codec/ans/piece_planes.h"
#include "codec/ans/states.h"

namespace thinwire::codec::ans {
namespace {

std::byte* fill_up(const std::byte* begin, std::byte* end) {
  return std::fill_n(end, filled(static_cast<std::uint32_t>(end - begin)) - (end - begin),
                     std::byte{0});
}

// One stored plane.
template <typename Word>
std::byte* write_plane(const PiecePlanes<Word>& piece, const PieceParts<Word>& parts,
                       std::uint32_t plane, std::byte* out) {
  const ByteView from = piece.kept_plane(plane);
  if (!parts.has_free || plane != parts.kLast) {
    return fill_up(out, std::copy(from.begin(), from.end(), out));
  }
  const std::size_t whole = from.size() - kGroupValues;
  std::byte* next = std::copy_n(from.data(), whole, out);
  for (std::size_t at = whole; at < from.size(); at += kOfLane) {
    next = std::copy_n(from.data() + at, 2, next);
  }
  return next;
}

// Puts bytes of the last plane into the first states; returns the lowest bits.
template <typename Word>
std::uint32_t fill_states(const PiecePlanes<Word>& piece, const PieceParts<Word>& parts,
                          States& states) {
  states.fill(kLeastState);
  if (!parts.has_free) return 0;
  std::uint32_t lowest = 0;
  const std::byte* const from = piece.plane(parts.kLast) + piece.range.values - kGroupValues;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t bits = load<std::uint16_t>(from + kOfLane * lane + 2);
    states[lane] = first_state(bits);
    lowest |= (bits & 1) << lane;
  }
  return lowest;
}

// Writes one piece to `out`; returns its end.
template <typename Word>
std::byte* write_piece(const PiecePlanes<Word>& piece, const Models<Word, Steps>& models,
                       PieceHead& head, std::byte* out) {
  const std::uint32_t values = piece.range.values;
  head = {.words = 0, .kept = piece.kept, .is_stored = false, .is_sparse = piece.is_sparse};
  alignas(64) std::byte memory[kMostGroupBytes + kPieceBytes];
  std::byte* const end = memory + sizeof(memory);
  const std::byte* words = end;
  States states;
  std::uint32_t lowest = 0;
  if (models.sets.mixed != 0 || piece.has_mask) {
    const std::uint32_t room = room_of<Word>(values, head, models.sets);
    LinesToTake lines;
    lines.values = values;
    lines.mask = head.is_sparse ? piece.mask : nullptr;
    lines.quads = piece.has_mask ? piece.quads : nullptr;
    lines.quad_numbers = &models.mask_numbers;
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      if (!models.is_mixed(plane)) continue;
      lines.add(piece.plane(plane), models.numbers[plane], piece.is_packed(plane));
    }
    lowest = fill_states(piece, PieceParts<Word>(values, head, models.sets), states);
    words = room < kStateBytes ? nullptr : take_piece(states, lines, end, room - kStateBytes);
    head.is_stored = words == nullptr;
    if (!head.is_stored) head.words = static_cast<std::uint32_t>(end - words) / 2;
  }
  const PieceParts<Word> parts(values, head, models.sets);
  if (parts.mask_bytes() > 0) {
    out = fill_up(out, std::copy_n(piece.quads, quads_of(values), out));
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if ((parts.stored >> plane & 1) != 0) out = write_plane(piece, parts, plane, out);
  }
  if (!parts.has_states) return out;
  out = std::copy_n(reinterpret_cast<const std::byte*>(states.data()), kStateBytes, out);
  if (parts.has_free) {
    store(out, lowest);
    out += kFreeBits;
  }
  out = std::fill_n(out, parts.word_bytes() - 2 * parts.words, std::byte{0});
  return std::copy(words, static_cast<const std::byte*>(end), out);
}

}  // namespace

template <typename Word>
std::uint64_t encode_pieces(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                            std::byte* out) {
  const std::uint64_t raw = std::uint64_t{values} * sizeof(Word);
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
  ChunkMemory<Word> memory;
  std::array<PiecePlanes<Word>, kPieces> pieces;
  Models<Word, Steps> models;
  make_models<Word>(source, values, tuple, memory, std::span(pieces).first(many), models);
  store(out, pack<Word>(models.sets));
  std::byte* const tables = out + 4 + 4 * many;
  std::byte* next = models.sets.masked ? models.mask.write_mask(tables) : tables;
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if (models.is_coded(plane)) next = models.of[plane].write(next);
  }
  next = fill_up(tables, next);
  for (std::uint32_t piece = 0; piece < many; ++piece) {
    PieceHead head;
    next = write_piece(pieces[piece], models, head, next);
    store(out + 4 + 4 * piece, pack(head));
  }
  return std::min(raw, static_cast<std::uint64_t>(next - out));
}

#define THINWIRE_WORD(Word, name)                                                            \
  template std::uint64_t encode_pieces<Word>(const std::byte*, std::uint32_t, std::uint32_t, \
                                             std::byte*);
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
