// The frequencies of a chunk's planes on the host, for all of its pieces. See
// spec/codec-ans.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/model.h"
#include "codec/ans/pieces.h"

namespace thinwire::codec::ans {

// The models of a chunk's planes, and the numbers that states take.
template <typename Word, typename Numbers>
struct Models {
  std::array<Model, sizeof(Word)> of;
  std::array<Numbers, sizeof(Word)> numbers;
  Model mask;
  Numbers mask_numbers;
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

// The values of a piece.
struct Range {
  std::uint32_t first, values;
};

template <typename Word>
Range range_of(std::uint32_t piece, std::uint32_t values) {
  const std::uint32_t first = piece * kPieceValues<Word>;
  return {first, std::min(kPieceValues<Word>, values - first)};
}

// Takes the tables of a payload off the front of `bytes`. False if one is not sound.
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

}  // namespace thinwire::codec::ans
