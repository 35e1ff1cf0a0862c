// Chunks to payloads: values to lattice points, these or their differences to digits, and values
// that no lattice point is near enough to, stored as they are.
#include <algorithm>
#include <bit>

#include "base/vector_units.h"
#include "codec/szp/coder.h"
#include "codec/szp/core.h"
#include "codec/szp/digits.h"
#include "codec/szp/patches.h"

namespace thinwire::codec::szp {
namespace {

// Turns values into indices, the numbers of the nearest lattice points. Not 0 if the point of some
// value is farther than the bound: that value must be stored.
template <typename Value>
BitsOf<Value> quantise_run(const std::byte* source, int count, Lattice<Value> lattice,
                           std::uint32_t* indices) {
  BitsOf<Value> unbounded = 0;
  for (int x = 0; x < count; ++x) {
    const auto quantised = quantise(load<Value>(source + x * sizeof(Value)), lattice);
    indices[x] = quantised.index;
    unbounded |= 1 ^ quantised.is_bounded;
  }
  return unbounded;
}

// Fills `indices`, with zeros outside the values. False if a value must be stored.
template <typename Value, int kRank>
bool quantise_box(const std::byte* source, const IndexBox<kRank>& box,
                  const Lattice<Value>& lattice, Indices& indices) {
  if (box.is_clipped()) std::fill_n(indices.data(), box.slots, 0);
  BitsOf<Value> unbounded = 0;
  box.for_runs([&](int at, int count) {
    unbounded |= quantise_run(source, count, lattice, &indices[at]);
    source += count * sizeof(Value);
  });
  return unbounded == 0;
}

template <typename Value>
bool is_constant(const std::byte* source, std::uint64_t values) {
  const auto first = load<BitsOf<Value>>(source);
  for (std::uint64_t at = 1; at < values; ++at) {
    if (load<BitsOf<Value>>(source + at * sizeof first) != first) return false;
  }
  return true;
}

// Writes the payload of a chunk whose values all have the same bits.
template <typename Value>
std::uint64_t write_constant(const std::byte* source, std::byte* out) {
  store(out, Head{0, 0, false, false, true}.word());
  std::memcpy(out + 4, source, sizeof(Value));
  return 4 + sizeof(Value);
}

Head make_head(const Codes& codes, bool is_differenced, bool has_patches) {
  Head head{0, 0, is_differenced, has_patches, false};
  std::uint32_t most = 0;
  for (int group = 0; group < kGroups; ++group) {
    std::uint32_t any = 0;
    for (int lane = 0; lane < kGroupTiles; ++lane) any |= codes[group * kGroupTiles + lane];
    head.groups |= std::uint32_t{any != 0} << group;
    // All codes ored together have as many bits as the largest.
    most |= any;
  }
  head.code_bits = bit_width(most);
  return head;
}

// The numbers that a decoder will find in the payload: a chunk's indices or the differences of
// these, whichever take fewer bits.
struct Residuals {
  Indices indices, differences;
  Codes index_codes, difference_codes;
  std::uint32_t bits;
  bool is_differenced;

  const Indices& values() const { return is_differenced ? differences : indices; }
  const Codes& codes() const { return is_differenced ? difference_codes : index_codes; }
};

// Computes the residuals. Returns the first index, which the payload has by itself: the first
// residual is 0.
template <int kRank>
std::uint32_t find_residuals(const IndexBox<kRank>& box, Residuals& residuals) {
  const std::uint32_t corner = residuals.indices[0];
  box.difference(residuals.indices, residuals.differences);
  residuals.indices[0] = residuals.differences[0] = 0;
  const std::uint32_t index_bits = find_codes(residuals.indices, box, residuals.index_codes);
  const std::uint32_t bits = find_codes(residuals.differences, box, residuals.difference_codes);
  residuals.is_differenced = bits <= index_bits;
  residuals.bits = residuals.is_differenced ? bits : index_bits;
  return corner;
}

// Encodes a chunk with a lattice. Returns the payload's bytes; 0 if all values decode to 0 without
// one, and the raw bytes if a payload would not be smaller: then `out` means nothing.
template <typename Value, int kRank>
std::uint64_t encode_indices(const std::byte* source, const Chunk& chunk,
                             const Lattice<Value>& lattice, std::byte* out) {
  const std::uint64_t raw = chunk.raw_bytes();
  const IndexBox<kRank> box(chunk.shape);
  Residuals residuals;
  const bool has_patches = !quantise_box(source, box, lattice, residuals.indices);
  if (has_patches && raw > 4 + sizeof(Value) &&
      quantise(load<Value>(source), lattice).is_bounded == 0 &&
      is_constant<Value>(source, chunk.shape.count())) {
    return write_constant<Value>(source, out);
  }
  const std::uint32_t corner = find_residuals(box, residuals);
  const Head head = make_head(residuals.codes(), residuals.is_differenced, has_patches);
  if (head.groups == 0 && corner == 0 && !has_patches) return 0;
  std::uint64_t bytes = 8 + 4u * head.code_bits * std::popcount(head.groups) +
                        ceil_div(std::uint64_t{residuals.bits} * kTileRows, 32) * 4;
  Masks masks;
  if (has_patches) {
    find_patches(source, box, lattice, masks);
    bytes += patch_bytes<Value>(masks);
  }
  if (bytes >= raw) return raw;
  Writer writer(out);
  writer.word(head.word());
  writer.word(corner);
  write_codes(head, residuals.codes(), writer);
  write_digits(residuals.values(), box, residuals.codes(), writer);
  if (has_patches) write_patches<Value>(source, box, masks, writer);
  return writer.written();
}

template <typename Value>
std::uint64_t encode_values(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                            std::byte* out) {
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  if (!lattice.exists()) {
    const std::uint64_t raw = chunk.raw_bytes();
    const bool is_short =
        raw > 4 + sizeof(Value) && is_constant<Value>(source, chunk.shape.count());
    return is_short ? write_constant<Value>(source, out) : raw;
  }
  if (chunk.shape.rank == 1) return encode_indices<Value, 1>(source, chunk, lattice, out);
  if (chunk.shape.rank == 2) return encode_indices<Value, 2>(source, chunk, lattice, out);
  return encode_indices<Value, 3>(source, chunk, lattice, out);
}

THINWIRE_VECTOR_CLONES std::uint64_t encode_f32(const std::byte* source, const Chunk& chunk,
                                                std::uint64_t parameter, std::byte* out) {
  return encode_values<float>(source, chunk, parameter, out);
}

THINWIRE_VECTOR_CLONES std::uint64_t encode_f64(const std::byte* source, const Chunk& chunk,
                                                std::uint64_t parameter, std::byte* out) {
  return encode_values<double>(source, chunk, parameter, out);
}

}  // namespace

std::uint64_t encode_box(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                         std::byte* out) {
  return chunk.dtype == Dtype::kF32 ? encode_f32(source, chunk, parameter, out)
                                    : encode_f64(source, chunk, parameter, out);
}

}  // namespace thinwire::codec::szp
