#include "codec/ans/piece_payload.h"

#include <algorithm>
#include <array>

#include "codec/ans/format.h"
#include "codec/ans/model.h"
#include "codec/ans/piece_states.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"

namespace thinwire::codec::ans {
namespace {

// The models of a chunk's planes, and the numbers that states take.
template <typename Word, typename Numbers>
struct Models {
  std::array<Model, sizeof(Word)> of;
  std::array<Numbers, sizeof(Word)> numbers;
  PlaneSets sets{0, 0};

  bool is_mixed(std::uint32_t plane) const { return (sets.mixed >> plane & 1) != 0; }
  bool is_coded(std::uint32_t plane) const { return (sets.coded >> plane & 1) != 0; }

  void add(std::uint32_t plane) {
    sets.coded |= 1u << plane;
    if (!of[plane].is_mixed()) return;
    sets.mixed |= 1u << plane;
    of[plane].make(numbers[plane]);
  }
};

struct Range {
  std::uint32_t first, values;
};

template <typename Word>
Range range_of(std::uint32_t piece, std::uint32_t values) {
  const std::uint32_t first = piece * kPieceValues<Word>;
  return {first, std::min(kPieceValues<Word>, values - first)};
}

std::byte* fill_up(const std::byte* begin, std::byte* end) {
  return std::fill_n(end, filled(static_cast<std::uint32_t>(end - begin)) - (end - begin),
                     std::byte{0});
}

// ---- Encoding ----

// The dense planes of a piece in a chunk's memory.
template <typename Word>
struct PiecePlanes {
  const std::byte* bytes;
  std::uint32_t apart;  // from one plane to the next
  Range range;
  Kept kept;

  const std::byte* plane(std::uint32_t number) const { return bytes + number * apart; }
};

// One stored plane.
template <typename Word>
std::byte* write_plane(const PiecePlanes<Word>& piece, const PieceParts<Word>& parts,
                       std::uint32_t plane, std::byte* out) {
  const std::byte* const from = piece.plane(plane);
  const std::uint32_t values = piece.range.values;
  if (piece.kept.is_sparse && plane > 0) {
    const std::byte* const highest = piece.plane(0);
    std::byte* next = out;
    for (std::uint32_t at = 0; at < values; ++at) {
      if (highest[at] != std::byte{0}) *next++ = from[at];
    }
    return fill_up(out, next);
  }
  if (!parts.has_free || plane != parts.kLast) {
    return fill_up(out, std::copy_n(from, values, out));
  }
  std::byte* next = std::copy_n(from, values - kGroupValues, out);
  for (std::uint32_t at = values - kGroupValues; at < values; at += kOfLane) {
    next = std::copy_n(from + at, 2, next);
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
  std::array<std::uint32_t, kBytes> counts{};
  for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
    const std::byte* const group = plane + piece * kPieceValues<Word> + sample_at<Word>(piece);
    for (std::uint32_t at = 0; at < kGroupValues; ++at) {
      ++counts[static_cast<std::uint8_t>(group[at])];
    }
  }
  std::uint32_t pairs = 0;
  for (const std::uint32_t times : counts) pairs += times * (times - 1);
  return pairs >= kLeastPairs;
}

// The planes of all pieces, and what their bytes' frequencies say.
template <typename Word>
void make_models(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                 std::byte* memory, std::array<PiecePlanes<Word>, kPieces>& pieces,
                 Models<Word, Steps>& models) {
  std::uint32_t kept = 0;
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
  for (std::uint32_t number = 0; number < many; ++number) {
    PiecePlanes<Word>& piece = pieces[number];
    piece.range = range_of<Word>(number, values);
    piece.bytes = memory + piece.range.first;
    piece.apart = values;
    piece.kept = split_all<Word>(source + piece.range.first * sizeof(Word), piece.range.values,
                                 tuple, memory + piece.range.first, values);
    kept += piece.kept.words;
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::byte* const bytes = memory + plane * values;
    if (values == kCutChunkValues<Word> && !is_likely<Word>(bytes)) continue;
    Counts counts = count({bytes, values});
    if (plane > 0) counts[0] -= values - kept;
    if (models.of[plane].take(counts, plane == 0 ? values : kept)) models.add(plane);
  }
}

// ---- Decoding ----

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }

// Takes the tables off the front of `bytes`.
template <typename Word>
bool read_models(std::uint32_t coded, ByteView& bytes, Models<Word, Slots>& models) {
  const std::size_t all = bytes.size();
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if ((coded >> plane & 1) == 0) continue;
    if (!models.of[plane].read(bytes)) return false;
    models.add(plane);
  }
  const std::size_t filling = (4 - (all - bytes.size()) % 4) % 4;
  if (bytes.size() < filling) return false;
  bytes = bytes.subspan(filling);
  return true;
}

// A stored plane into a dense one. False if a sparse piece has another number of bytes.
template <typename Word>
bool read_plane(const PieceParts<Word>& parts, std::uint32_t plane, const std::byte* from,
                const std::byte* mask, std::byte* to) {
  if (mask != nullptr && plane > 0) {
    const std::byte* const end = from + parts.kept;
    for (std::uint32_t at = 0; at < parts.values; ++at) {
      const bool is_there = mask[at] != std::byte{0};
      if (is_there && from == end) return false;
      to[at] = is_there ? *from++ : std::byte{0};
    }
    return from == end;
  }
  if (!parts.has_free || plane != parts.kLast) {
    std::copy_n(from, parts.values, to);
    return true;
  }
  const std::uint32_t whole = parts.values - kGroupValues;
  std::copy_n(from, whole, to);
  for (std::uint32_t at = 0; at < kFreeBytes; at += 2) {
    std::copy_n(from + whole + at, 2, to + whole + 2 * at);
  }
  return true;
}

// The states of a piece: all of the mixed planes. `bytes` are states and words.
template <typename Word>
bool read_states(const PieceParts<Word>& parts, const Models<Word, Slots>& models,
                 const std::byte* bytes, bool is_sparse, Planes& planes) {
  States states;
  std::copy_n(bytes, kStateBytes, reinterpret_cast<std::byte*>(states.data()));
  const auto is_state = [](std::uint32_t state) {
    return state >= kLeastState && state < kStateEnd;
  };
  if (!std::ranges::all_of(states, is_state)) return false;
  LinesToGive lines;
  lines.values = parts.values;
  lines.mask = is_sparse ? planes.of(0).data() : nullptr;
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if (!models.is_mixed(plane)) continue;
    lines.add(planes.of(plane).data(), models.numbers[plane], is_sparse && plane > 0);
  }
  alignas(64) std::byte memory[kPieceBytes + kMostGroupBytes];
  const std::uint32_t words = 2 * parts.words;
  std::copy_n(bytes + parts.state_bytes() + parts.word_bytes() - words, words, memory);
  std::fill_n(memory + words, kMostGroupBytes, std::byte{0});
  if (!give_piece(states, lines, {memory, words})) return false;
  if (!std::ranges::all_of(states, is_first_state)) return false;
  if (!parts.has_free) {
    return std::ranges::all_of(states, [](std::uint32_t state) { return state == kLeastState; });
  }
  const auto lowest = load<std::uint32_t>(bytes + kStateBytes);
  std::byte* const last = planes.of(parts.kLast).data() + parts.values - kGroupValues;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t bits = (states[lane] & (kLeastState - 1)) << 1 | (lowest >> lane & 1);
    store(last + kOfLane * lane + 2, static_cast<std::uint16_t>(bits));
  }
  return true;
}

template <typename Word>
bool read_piece(const PieceParts<Word>& parts, const Models<Word, Slots>& models, bool is_sparse,
                const std::byte* bytes, std::uint32_t tuple, std::byte* out) {
  Planes planes;
  planes.values = planes.kept = parts.values;
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    planes.place[plane] = planes.of(plane).data();
    if (models.is_coded(plane) && !models.is_mixed(plane)) {
      std::ranges::fill(planes.of(plane), std::byte{models.of[plane].only_byte()});
    }
  }
  const auto read_stored = [&](std::uint32_t plane, const std::byte* mask) {
    if ((parts.stored >> plane & 1) == 0) return true;
    return read_plane(parts, plane, bytes + parts.offset(plane), mask, planes.of(plane).data());
  };
  if (!read_stored(0, nullptr)) return false;
  if (parts.has_states &&
      !read_states(parts, models, bytes + parts.offset(sizeof(Word)), is_sparse, planes)) {
    return false;
  }
  const std::byte* const mask = is_sparse ? planes.of(0).data() : nullptr;
  const auto zeros = std::ranges::count(planes.of(0), std::byte{0});
  if (is_sparse && static_cast<std::uint32_t>(zeros) != parts.values - parts.kept) return false;
  for (std::uint32_t plane = 1; plane < sizeof(Word); ++plane) {
    if (!read_stored(plane, mask)) return false;
    if (is_sparse && models.is_coded(plane) && !models.is_mixed(plane)) {
      for (std::uint32_t at = 0; at < parts.values; ++at) {
        if (mask[at] == std::byte{0}) planes.of(plane)[at] = std::byte{0};
      }
    }
  }
  return join<Word>(planes, tuple, out);
}

}  // namespace

template <typename Word>
std::uint64_t encode_pieces(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                            std::byte* out) {
  const std::uint64_t raw = std::uint64_t{values} * sizeof(Word);
  alignas(64) std::byte memory[kCutChunkBytes];
  std::array<PiecePlanes<Word>, kPieces> pieces;
  Models<Word, Steps> models;
  make_models<Word>(source, values, tuple, memory, pieces, models);
  store(out, models.sets.coded);
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
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

template <typename Word>
Status decode_pieces(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  const std::uint32_t many = pieces_of(values, kPieceValues<Word>);
  if (encoded.size() < 4 + 4 * many) return damaged("ans: shorter than its heads");
  const auto coded = load<std::uint32_t>(encoded.data());
  if (coded >> sizeof(Word) != 0) return damaged("ans: its head is none of such a chunk");
  ByteView bytes = encoded.subspan(4 + 4 * many);
  Models<Word, Slots> models;
  if (!read_models(coded, bytes, models)) return damaged("ans: a table is none");
  for (std::uint32_t number = 0; number < many; ++number) {
    const PieceHead head = unpack_piece(load<std::uint32_t>(encoded.data() + 4 + 4 * number));
    const Range range = range_of<Word>(number, values);
    if (!is_sound<Word>(head, range.values, models.sets.mixed)) {
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

#define THINWIRE_WORD(Word)                                                                  \
  template std::uint64_t encode_pieces<Word>(const std::byte*, std::uint32_t, std::uint32_t, \
                                             std::byte*);                                    \
  template Status decode_pieces<Word>(ByteView, std::uint32_t, std::uint32_t, std::byte*);
THINWIRE_WORD(std::uint8_t)
THINWIRE_WORD(std::uint16_t)
THINWIRE_WORD(std::uint32_t)
THINWIRE_WORD(std::uint64_t)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
