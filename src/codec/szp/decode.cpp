#include <bit>

#include "base/vector_units.h"
#include "codec/szp/coder.h"
#include "codec/szp/core.h"
#include "codec/szp/digits.h"
#include "codec/szp/patches.h"

namespace thinwire::codec::szp {
namespace {

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }
Status wrong_length() { return damaged("szp: its length is not what its parts say"); }

// The state of a payload.
enum class Outcome { kSound, kWrongHead, kNoLattice, kWrongLength };

template <typename Value>
Outcome fill(ByteView value, std::uint64_t values, std::byte* out) {
  if (value.size() != sizeof(Value)) return Outcome::kWrongLength;
  const auto bits = load<BitsOf<Value>>(value.data());
  for (std::uint64_t at = 0; at < values; ++at) store(out + at * sizeof bits, bits);
  return Outcome::kSound;
}

template <typename Value>
void store_run(const std::uint32_t* indices, int count, Lattice<Value> lattice, std::byte* out) {
  for (int x = 0; x < count; ++x) store(out + x * sizeof(Value), value_at(indices[x], lattice));
}

// Decodes the part after the head, of a chunk with a lattice.
template <typename Value, int kRank>
Outcome decode_indices(const Head& head, Reader& reader, const Chunk& chunk,
                       const Lattice<Value>& lattice, std::byte* out) {
  const std::uint32_t corner = reader.word();
  if (reader.left() < 4u * head.code_bits * std::popcount(head.groups)) {
    return Outcome::kWrongLength;
  }
  Codes codes;
  const std::uint64_t bytes = 4 * read_codes(head, reader, codes);
  if (reader.left() < bytes || (!head.has_patches && reader.left() != bytes)) {
    return Outcome::kWrongLength;
  }
  const IndexBox<kRank> box(chunk.shape);
  Indices indices;
  read_indices(reader.take(bytes), box, codes, corner, head.is_differenced, indices);
  std::byte* run = out;
  box.for_runs([&](int at, int count) {
    store_run(&indices[at], count, lattice, run);
    run += count * sizeof(Value);
  });
  const bool is_whole = !head.has_patches || read_patches<Value>(box, reader, out);
  return is_whole ? Outcome::kSound : Outcome::kWrongLength;
}

template <typename Value>
Outcome decode_values(ByteView encoded, const Chunk& chunk, std::uint64_t parameter,
                      std::byte* out) {
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  if (encoded.empty() && lattice.exists()) {
    std::memset(out, 0, chunk.raw_bytes());
    return Outcome::kSound;
  }
  Reader reader(encoded);
  if (reader.left() < 8) return Outcome::kWrongLength;
  bool is_sound = false;
  const Head head = read_head(reader.word(), is_sound);
  if (!is_sound) return Outcome::kWrongHead;
  if (head.is_constant) return fill<Value>(encoded.subspan(4), chunk.shape.count(), out);
  if (!lattice.exists()) return Outcome::kNoLattice;
  if (chunk.shape.rank == 1) return decode_indices<Value, 1>(head, reader, chunk, lattice, out);
  if (chunk.shape.rank == 2) return decode_indices<Value, 2>(head, reader, chunk, lattice, out);
  return decode_indices<Value, 3>(head, reader, chunk, lattice, out);
}

// Without a Status, whose text a clone would have to free.
THINWIRE_VECTOR_CLONES Outcome decode_f32(ByteView encoded, const Chunk& chunk,
                                          std::uint64_t parameter, std::byte* out) {
  return decode_values<float>(encoded, chunk, parameter, out);
}

THINWIRE_VECTOR_CLONES Outcome decode_f64(ByteView encoded, const Chunk& chunk,
                                          std::uint64_t parameter, std::byte* out) {
  return decode_values<double>(encoded, chunk, parameter, out);
}

}  // namespace

Status decode_box(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const Outcome outcome = chunk.dtype == Dtype::kF32 ? decode_f32(encoded, chunk, parameter, out)
                                                     : decode_f64(encoded, chunk, parameter, out);
  switch (outcome) {
    case Outcome::kWrongHead:
      return damaged("szp: its head is none");
    case Outcome::kNoLattice:
      return damaged("szp: a bound of 0 has no lattice");
    case Outcome::kWrongLength:
      return wrong_length();
    case Outcome::kSound:
      break;
  }
  return {};
}

}  // namespace thinwire::codec::szp
