#include <bit>

#include "codec/szp/coder.h"
#include "codec/szp/core.h"
#include "codec/szp/index_box.h"
#include "codec/szp/writer.h"

namespace thinwire::codec::szp {
namespace {

using Codes = std::array<std::uint8_t, kTiles>;
using Masks = std::array<std::uint16_t, kTiles>;

constexpr auto kNarrowCodes = [] {
  std::array<std::uint8_t, 256> codes{};
  for (std::uint32_t most = 0; most < 256; ++most) {
    codes[most] = static_cast<std::uint8_t>(narrow_code_of(most));
  }
  return codes;
}();

// ---- Quantising ----

// Fills `indices`; false where a value must be stored.
template <typename Value>
bool quantise_box(const std::byte* source, const IndexBox& box, const Lattice<Value>& lattice,
                  Indices& indices) {
  bool all_bounded = true;
  box.for_rows([&](int at) {
    for (int x = 0; x < box.columns; ++x) {
      const auto quantised = quantise(load<Value>(source + x * sizeof(Value)), lattice);
      indices[at + x] = quantised.index;
      all_bounded &= quantised.is_bounded;
    }
    source += box.columns * sizeof(Value);
  });
  return all_bounded;
}

template <typename Value>
bool is_constant(const std::byte* source, std::uint64_t values) {
  const auto first = load<BitsOf<Value>>(source);
  for (std::uint64_t at = 1; at < values; ++at) {
    if (load<BitsOf<Value>>(source + at * sizeof first) != first) return false;
  }
  return true;
}

// The tile and the place in it of the value at `at`.
struct TilePlace {
  int tile, place;
};

std::array<TilePlace, kBoxValues> tile_places(const IndexBox& box) {
  std::array<TilePlace, kBoxValues> places;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int place = 0; place < kTileValues; ++place) {
      const int row = place / kRowValues;
      places[box.tile_at(tile) + row * box.tile_rows_pitch + place % kRowValues] = {tile, place};
    }
  }
  return places;
}

// ---- Codes ----

// The code of every tile, and their rows' bits in all, for four rows a tile.
std::uint32_t find_codes(const Indices& residuals, const IndexBox& box, Codes& codes) {
  std::uint32_t bits = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    const std::uint32_t* row = &residuals[box.tile_at(tile)];
    std::uint32_t most = 0;
    for (int j = 0; j < kTileRows; ++j, row += box.tile_rows_pitch) {
      for (int k = 0; k < kRowValues; ++k) {
        most = std::max(most, fold(static_cast<std::int32_t>(row[k])));
      }
    }
    const std::uint32_t code = most < 256 ? kNarrowCodes[most] : wide_code_of(most);
    codes[tile] = static_cast<std::uint8_t>(code);
    bits += radix_of(code).row_bits;
  }
  return bits;
}

// ---- Writing ----

void write_codes(const Head& head, const Codes& codes, Writer& writer) {
  for (int group = 0; group < kGroups; ++group) {
    if ((head.groups >> group & 1) == 0) continue;
    for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
      std::uint32_t word = 0;
      for (int lane = 0; lane < kGroupTiles; ++lane) {
        word |= std::uint32_t{codes[group * kGroupTiles + lane]} >> plane << 31 >> (31 - lane);
      }
      writer.word(word);
    }
  }
}

void write_row(const std::uint32_t* row, const Radix& radix, Writer& writer) {
  const std::uint32_t bias = radix.bias();
  if (radix.row_bits > 32) {
    const std::uint32_t bits = radix.row_bits / kRowValues;
    for (int k = 0; k < kRowValues; ++k) writer.bits(row[k] + bias, bits);
    return;
  }
  std::uint32_t number = 0;
  for (int k = kRowValues - 1; k >= 0; --k) number = number * radix.radix + row[k] + bias;
  writer.bits(number, radix.row_bits);
}

void write_digits(const Indices& residuals, const IndexBox& box, const Codes& codes,
                  Writer& writer) {
  for (int tile = 0; tile < kTiles; ++tile) {
    if (codes[tile] == 0) continue;
    const Radix radix = radix_of(codes[tile]);
    const std::uint32_t* row = &residuals[box.tile_at(tile)];
    for (int j = 0; j < kTileRows; ++j, row += box.tile_rows_pitch) {
      write_row(row, radix, writer);
    }
  }
  writer.end_word();
}

// ---- Patches ----

// Which values must be stored.
template <typename Value>
Masks find_patches(const std::byte* source, const IndexBox& box, const Lattice<Value>& lattice) {
  const auto places = tile_places(box);
  Masks masks{};
  box.for_rows([&](int at) {
    for (int x = 0; x < box.columns; ++x) {
      if (quantise(load<Value>(source + x * sizeof(Value)), lattice).is_bounded) continue;
      const TilePlace place = places[at + x];
      masks[place.tile] |= static_cast<std::uint16_t>(1u << place.place);
    }
    source += box.columns * sizeof(Value);
  });
  return masks;
}

template <typename Value>
std::uint64_t patch_bytes(const Masks& masks) {
  std::uint64_t tiles = 0;
  std::uint64_t values = 0;
  for (const std::uint16_t mask : masks) {
    tiles += mask != 0;
    values += static_cast<std::uint64_t>(std::popcount(mask));
  }
  return kTiles / 8 + (tiles + 1) / 2 * 4 + values * sizeof(Value);
}

template <typename Value>
void write_patches(const std::byte* source, const IndexBox& box, const Masks& masks,
                   Writer& writer) {
  for (int group = 0; group < kGroups; ++group) {
    for (int lane = 0; lane < kGroupTiles; ++lane) {
      writer.bits(masks[group * kGroupTiles + lane] != 0, 1);
    }
  }
  for (const std::uint16_t mask : masks) {
    if (mask != 0) writer.bits(mask, 16);
  }
  writer.end_word();
  for (int tile = 0; tile < kTiles; ++tile) {
    for (unsigned left = masks[tile]; left != 0; left &= left - 1) {
      const int place = std::countr_zero(left);
      const int at =
          box.tile_at(tile) + place / kRowValues * box.tile_rows_pitch + place % kRowValues;
      const int index = box.value_at(at);
      for (std::size_t half = 0; half < sizeof(Value); half += 4) {
        writer.word(load<std::uint32_t>(source + index * sizeof(Value) + half));
      }
    }
  }
}

// ---- A chunk ----

template <typename Value>
std::uint64_t write_constant(const std::byte* source, std::byte* out) {
  store(out, Head{0, 0, false, false, true}.word());
  std::memcpy(out + 4, source, sizeof(Value));
  return 4 + sizeof(Value);
}

Head make_head(const Codes& codes, bool is_differenced, bool has_patches) {
  Head head{0, 0, is_differenced, has_patches, false};
  std::uint32_t most = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (codes[tile] == 0) continue;
    head.groups |= 1u << tile / kGroupTiles;
    most = std::max<std::uint32_t>(most, codes[tile]);
  }
  head.code_bits = bit_width(most);
  return head;
}

template <typename Value>
std::uint64_t encode_values(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                            std::byte* out) {
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  const std::uint64_t raw = chunk.raw_bytes();
  const bool has_room = raw > 4 + sizeof(Value);
  if (!lattice.exists()) {
    return has_room && is_constant<Value>(source, chunk.shape.count())
               ? write_constant<Value>(source, out)
               : raw;
  }
  const IndexBox box(chunk.shape);
  Indices plain{};
  const bool has_patches = !quantise_box(source, box, lattice, plain);
  if (has_patches && has_room && !quantise(load<Value>(source), lattice).is_bounded &&
      is_constant<Value>(source, chunk.shape.count())) {
    return write_constant<Value>(source, out);
  }
  const std::uint32_t corner = plain[0];
  plain[0] = 0;
  Indices differences = plain;
  differences[0] = corner;
  box.difference(differences);
  differences[0] = 0;

  Codes plain_codes, codes;
  const std::uint32_t plain_bits = find_codes(plain, box, plain_codes);
  std::uint32_t bits = find_codes(differences, box, codes);
  const bool is_differenced = bits <= plain_bits;
  if (!is_differenced) {
    codes = plain_codes;
    bits = plain_bits;
  }
  const Head head = make_head(codes, is_differenced, has_patches);
  if (head.groups == 0 && corner == 0 && !has_patches) return 0;
  std::uint64_t bytes = 8 + 4u * head.code_bits * std::popcount(head.groups) +
                        ceil_div(std::uint64_t{bits} * kTileRows, 32) * 4;
  Masks masks;
  if (has_patches) {
    masks = find_patches(source, box, lattice);
    bytes += patch_bytes<Value>(masks);
  }
  if (bytes >= raw) return raw;
  Writer writer(out);
  writer.word(head.word());
  writer.word(corner);
  write_codes(head, codes, writer);
  write_digits(is_differenced ? differences : plain, box, codes, writer);
  if (has_patches) write_patches<Value>(source, box, masks, writer);
  return writer.written();
}

}  // namespace

std::uint64_t encode_box(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                         std::byte* out) {
  return chunk.dtype == Dtype::kF32 ? encode_values<float>(source, chunk, parameter, out)
                                    : encode_values<double>(source, chunk, parameter, out);
}

}  // namespace thinwire::codec::szp
