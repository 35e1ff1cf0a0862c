#include "codec/ans/piece_planes.h"

#include <algorithm>
#include <array>

#include "codec/ans/counts.h"
#include "codec/ans/masks.h"

namespace thinwire::codec::ans {
namespace {

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

// Words of 0 that planes but the first, or all of them, lack bytes of.
struct Lacking {
  std::uint32_t sparse = 0, masked = 0;
};

// The planes of all pieces.
template <typename Word>
Lacking make_planes(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                    ChunkMemory<Word>& memory, std::span<PiecePlanes<Word>> pieces) {
  Lacking lacking;
  for (std::uint32_t number = 0; number < pieces.size(); ++number) {
    PiecePlanes<Word>& piece = pieces[number];
    const Range range = range_of<Word>(number, values);
    piece = {.bytes = memory.planes + range.first,
             .packed = memory.packed + range.first,
             .mask = memory.planes + range.first,
             .quads = memory.quads + range.first / kOfLane,
             .apart = values,
             .range = range,
             .zeros = split<Word>(source + range.first * sizeof(Word), range.values, tuple,
                                  memory.planes + range.first, values),
             .kept = range.values,
             .is_sparse = false,
             .has_mask = false};
    const std::uint32_t zeros = piece.zeros.words;
    piece.is_sparse = piece.zeros.is_sparse;
    if (piece.is_sparse) piece.kept -= zeros;
    lacking.sparse += piece.is_sparse ? zeros : 0;
    lacking.masked += may_have_mask<Word>(zeros, range.values) ? zeros : 0;
  }
  return lacking;
}

// The masks of all pieces. False if frequencies leave nothing for a quad.
template <typename Word>
bool make_mask(std::uint32_t values, ChunkMemory<Word>& memory, std::span<PiecePlanes<Word>> pieces,
               Model& model) {
  std::uint32_t all = 0;
  for (PiecePlanes<Word>& piece : pieces) {
    std::byte* const quads = memory.quads + piece.range.first / kOfLane;
    if (!piece.zeros.is_sparse) {
      std::byte* const mask = memory.masks + piece.range.first;
      find_words(piece.bytes, sizeof(Word), values, piece.range.values, mask);
      piece.mask = mask;
    }
    make_quads(piece.mask, piece.range.values, quads);
    all += quads_of(piece.range.values);
  }
  return model.take_mask(count({memory.quads, all}), all);
}

// A chunk gets masks.
template <typename Word>
void put_masks(std::span<PiecePlanes<Word>> pieces) {
  for (PiecePlanes<Word>& piece : pieces) {
    const bool was_sparse = piece.is_sparse;
    piece.has_mask = may_have_mask<Word>(piece.zeros.words, piece.range.values);
    piece.is_sparse = piece.has_mask;
    piece.kept = piece.range.values - (piece.has_mask ? piece.zeros.words : 0);
    if (piece.has_mask && !was_sparse) piece.pack_from(0);
  }
}

}  // namespace

template <typename Word>
void make_models(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                 ChunkMemory<Word>& memory, std::span<PiecePlanes<Word>> pieces,
                 Models<Word, Steps>& models) {
  const Lacking lacking = make_planes<Word>(source, values, tuple, memory, pieces);
  const bool may_mask = may_be_masked(lacking.masked, values);
  for (const PiecePlanes<Word>& piece : pieces) {
    if (piece.is_sparse) piece.pack_from(may_mask ? 0 : 1);
  }
  const std::uint32_t kept = values - lacking.sparse, masked = values - lacking.masked;
  std::array<Model, sizeof(Word)> under_mask;
  std::uint32_t coded = 0, coded_under_mask = 0, with = 0, without = 0;
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    const std::byte* const bytes = memory.planes + plane * values;
    const std::uint32_t own = plane == 0 ? values : kept;
    if (values == kChunkValues<Word> && !is_likely<Word>(bytes)) {
      without += own;
      with += masked;
      continue;
    }
    Counts counts = count_plane<Word>(pieces, values, kept, plane);
    coded |= std::uint32_t{models.of[plane].take(counts, own)} << plane;
    without += models.of[plane].bytes();
    if (!may_mask) continue;
    counts[0] -= own - masked;
    coded_under_mask |= std::uint32_t{under_mask[plane].take(counts, masked)} << plane;
    with += under_mask[plane].bytes();
  }
  if (may_mask && make_mask(values, memory, pieces, models.mask)) {
    models.sets.masked = is_worth_masking(with + models.mask.bytes(), without);
  }
  if (models.sets.masked) {
    models.of = under_mask;
    coded = coded_under_mask;
    models.mask.make(models.mask_numbers);
    put_masks(pieces);
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if ((coded >> plane & 1) != 0) models.add(plane);
  }
}

#define THINWIRE_WORD(Word, name)                                                   \
  template void make_models<Word>(const std::byte*, std::uint32_t, std::uint32_t,   \
                                  ChunkMemory<Word>&, std::span<PiecePlanes<Word>>, \
                                  Models<Word, Steps>&);
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
