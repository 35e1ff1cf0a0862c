// Chunks to payloads, on the host.
#include <algorithm>
#include <array>
#include <span>

#include "codec/ans/kept.h"
#include "codec/ans/models.h"
#include "codec/ans/payload.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"
#include "codec/ans/states.h"

namespace thinwire::codec::ans {
namespace {

std::byte* fill_up(const std::byte* begin, std::byte* end) {
  return std::fill_n(end, filled(static_cast<std::uint32_t>(end - begin)) - (end - begin),
                     std::byte{0});
}

// The planes of a piece in a chunk's memory.
template <typename Word>
struct PiecePlanes {
  const std::byte* bytes;
  std::byte* packed;    // those of a sparse piece's words that are not 0
  std::uint32_t apart;  // from one plane to the next
  Range range;
  Kept kept;

  const std::byte* plane(std::uint32_t number) const { return bytes + number * apart; }
  ByteView kept_plane(std::uint32_t number) const {
    const bool is_packed = kept.is_sparse && number > 0;
    return {(is_packed ? packed : bytes) + number * apart, is_packed ? kept.words : range.values};
  }

  void pack() const {
    KeptValues<Word> values;
    values.find(plane(0), range.values);
    for (std::uint32_t number = 1; number < sizeof(Word); ++number) {
      values.pack(plane(number), packed + number * apart);
    }
  }
};

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
  head = {
      .words = 0, .kept = piece.kept.words, .is_stored = false, .is_sparse = piece.kept.is_sparse};
  alignas(64) std::byte memory[kMostGroupBytes + kPieceBytes];
  std::byte* const end = memory + sizeof(memory);
  const std::byte* words = end;
  States states;
  std::uint32_t lowest = 0;
  if (models.sets.mixed != 0) {
    const std::uint32_t room = room_of<Word>(values, head.kept, models.sets.mixed);
    LinesToTake lines;
    lines.values = values;
    lines.mask = head.is_sparse ? piece.plane(0) : nullptr;
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      if (!models.is_mixed(plane)) continue;
      lines.add(piece.plane(plane), models.numbers[plane], head.is_sparse && plane > 0);
    }
    lowest = fill_states(piece, PieceParts<Word>(values, head, models.sets), states);
    words = room < kStateBytes ? nullptr : take_piece(states, lines, end, room - kStateBytes);
    head.is_stored = words == nullptr;
    if (!head.is_stored) head.words = static_cast<std::uint32_t>(end - words) / 2;
  }
  const PieceParts<Word> parts(values, head, models.sets);
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

// Whether a plane of a whole chunk is to be counted.
template <typename Word>
bool is_likely(const std::byte* plane) {
  std::array<std::byte, kPieces * kGroupValues> sample;
  for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
    std::copy_n(plane + piece * kPieceValues<Word> + sample_at<Word>(piece), kGroupValues,
                sample.data() + piece * kGroupValues);
  }
  std::uint32_t pairs = 0;
  for (const std::uint32_t times : count(sample)) pairs += times * (times - 1);
  return pairs >= kLeastPairs;
}

// Counts of a plane's bytes in all pieces, which keep `kept` of their values in planes but the
// first. If those are few they are counted alone.
template <typename Word>
Counts count_plane(std::span<const PiecePlanes<Word>> pieces, std::uint32_t values,
                   std::uint32_t kept, std::uint32_t plane) {
  if (plane == 0 || 4 * kept > 3 * values) {
    Counts counts = count({pieces[0].plane(plane), values});
    if (plane > 0) counts[0] -= values - kept;
    return counts;
  }
  Counts sums{};
  for (const PiecePlanes<Word>& piece : pieces) {
    const Counts own = count(piece.kept_plane(plane));
    for (std::uint32_t byte = 0; byte < kBytes; ++byte) sums[byte] += own[byte];
  }
  return sums;
}

// The planes of all pieces, and what their bytes' frequencies say.
template <typename Word>
void make_models(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                 std::byte* memory, std::byte* packed, std::span<PiecePlanes<Word>> pieces,
                 Models<Word, Steps>& models) {
  std::uint32_t kept = 0;
  for (std::uint32_t number = 0; number < pieces.size(); ++number) {
    PiecePlanes<Word>& piece = pieces[number];
    piece.range = range_of<Word>(number, values);
    piece.bytes = memory + piece.range.first;
    piece.packed = packed + piece.range.first;
    piece.apart = values;
    piece.kept = split<Word>(source + piece.range.first * sizeof(Word), piece.range.values, tuple,
                             memory + piece.range.first, values);
    if (piece.kept.is_sparse) piece.pack();
    kept += piece.kept.words;
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::byte* const bytes = memory + plane * values;
    if (values == kChunkValues<Word> && !is_likely<Word>(bytes)) continue;
    const Counts counts = count_plane<Word>(pieces, values, kept, plane);
    if (models.of[plane].take(counts, plane == 0 ? values : kept)) models.add(plane);
  }
}

}  // namespace

template <typename Word>
std::uint64_t encode_pieces(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                            std::byte* out) {
  const std::uint64_t raw = std::uint64_t{values} * sizeof(Word);
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
  alignas(64) std::byte memory[kChunkBytes], packed[kChunkBytes];
  std::array<PiecePlanes<Word>, kPieces> pieces;
  Models<Word, Steps> models;
  make_models<Word>(source, values, tuple, memory, packed, std::span(pieces).first(many), models);
  store(out, models.sets.coded);
  std::byte* const tables = out + 4 + 4 * many;
  std::byte* next = tables;
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
