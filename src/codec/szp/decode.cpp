#include <bit>

#include "codec/szp/coder.h"
#include "codec/szp/core.h"
#include "codec/szp/index_box.h"

namespace thinwire::codec::szp {
namespace {

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }
Status wrong_length() { return damaged("szp: its length is not what its parts say"); }

// Words of a payload, and bits from the lowest on. What is not there reads as 0; whoever reads
// knows how much there is.
class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}

  std::uint64_t left() const { return bytes_.size() - at_; }

  std::uint32_t word() {
    if (left() < 4) return 0;
    const auto value = load<std::uint32_t>(bytes_.data() + at_);
    at_ += 4;
    return value;
  }
  std::uint32_t bits(std::uint32_t count) {  // at most 32
    if (have_ < count) {
      rest_ |= std::uint64_t{word()} << have_;
      have_ += 32;
    }
    const auto value = static_cast<std::uint32_t>(rest_ & ((std::uint64_t{1} << count) - 1));
    rest_ >>= count;
    have_ -= count;
    return value;
  }
  void end_word() { rest_ = have_ = 0; }
  ByteView take(std::uint64_t bytes) {
    const ByteView taken = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }

 private:
  ByteView bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t rest_ = 0;
  std::uint32_t have_ = 0;
};

// ---- Residuals ----

using Codes = std::array<std::uint8_t, kTiles>;

// Reads the codes; the words that the digits take.
std::uint64_t read_codes(const Head& head, Reader& reader, Codes& codes) {
  codes.fill(0);
  std::uint64_t bits = 0;
  for (int group = 0; group < kGroups; ++group) {
    if ((head.groups >> group & 1) == 0) continue;
    for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
      const std::uint32_t word = reader.word();
      for (int lane = 0; lane < kGroupTiles; ++lane) {
        codes[group * kGroupTiles + lane] |= static_cast<std::uint8_t>((word >> lane & 1) << plane);
      }
    }
    for (int lane = 0; lane < kGroupTiles; ++lane) {
      bits += kTileRows * radix_of(codes[group * kGroupTiles + lane]).row_bits;
    }
  }
  return ceil_div(bits, 32);
}

void read_row(const Radix& radix, Reader& reader, std::uint32_t* row) {
  const std::uint32_t bias = radix.bias();
  if (radix.row_bits > 32) {
    for (int k = 0; k < kRowValues; ++k) row[k] = reader.bits(radix.row_bits / kRowValues) - bias;
    return;
  }
  const std::uint32_t reciprocal = radix.reciprocal();
  std::uint32_t number = reader.bits(radix.row_bits);
  for (int k = 0; k < kRowValues - 1; ++k) {
    const std::uint32_t rest = divide(number, reciprocal);
    row[k] = number - rest * radix.radix - bias;
    number = rest;
  }
  row[kRowValues - 1] = number - bias;
}

void read_digits(const IndexBox& box, const Codes& codes, Reader& reader, Indices& residuals) {
  residuals.fill(0);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (codes[tile] == 0) continue;
    const Radix radix = radix_of(codes[tile]);
    std::uint32_t* row = &residuals[box.tile_at(tile)];
    for (int j = 0; j < kTileRows; ++j, row += box.tile_rows_pitch) read_row(radix, reader, row);
  }
  reader.end_word();
}

// ---- Patches ----

// Puts stored values in their places in `out`; false where the payload's end is not theirs.
template <typename Value>
bool read_patches(const IndexBox& box, Reader& reader, std::byte* out) {
  if (reader.left() < kTiles / 8) return false;
  std::array<std::uint32_t, kGroups> tiles;
  std::uint64_t count = 0;
  for (std::uint32_t& word : tiles) {
    word = reader.word();
    count += static_cast<std::uint64_t>(std::popcount(word));
  }
  const std::uint64_t mask_bytes = (count + 1) / 2 * 4;
  if (reader.left() < mask_bytes) return false;
  const std::byte* mask_at = reader.take(mask_bytes).data();
  std::uint64_t values = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    values += static_cast<std::uint64_t>(std::popcount(load<std::uint16_t>(mask_at + 2 * at)));
  }
  if (reader.left() != values * sizeof(Value)) return false;
  const std::byte* stored = reader.take(values * sizeof(Value)).data();
  for (int tile = 0; tile < kTiles; ++tile) {
    if ((tiles[tile / kGroupTiles] >> tile % kGroupTiles & 1) == 0) continue;
    for (unsigned left = load<std::uint16_t>(mask_at); left != 0; left &= left - 1) {
      const int place = std::countr_zero(left);
      const int at =
          box.tile_at(tile) + place / kRowValues * box.tile_rows_pitch + place % kRowValues;
      const int index = box.value_at(at);
      if (index >= 0) std::memcpy(out + index * sizeof(Value), stored, sizeof(Value));
      stored += sizeof(Value);
    }
    mask_at += 2;
  }
  return true;
}

// ---- A chunk ----

template <typename Value>
Status fill(ByteView value, std::uint64_t values, std::byte* out) {
  if (value.size() != sizeof(Value)) return wrong_length();
  for (std::uint64_t at = 0; at < values; ++at) {
    std::memcpy(out + at * sizeof(Value), value.data(), sizeof(Value));
  }
  return {};
}

template <typename Value>
Status decode_values(ByteView encoded, const Chunk& chunk, std::uint64_t parameter,
                     std::byte* out) {
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  if (encoded.empty() && lattice.exists()) {
    std::memset(out, 0, chunk.raw_bytes());
    return {};
  }
  Reader reader(encoded);
  if (reader.left() < 8) return wrong_length();
  bool is_sound = false;
  const Head head = read_head(reader.word(), is_sound);
  if (!is_sound) return damaged("szp: its head is none");
  if (head.is_constant) return fill<Value>(encoded.subspan(4), chunk.shape.count(), out);
  if (!lattice.exists()) return damaged("szp: a bound of 0 has no lattice");
  const std::uint32_t corner = reader.word();
  if (reader.left() < 4u * head.code_bits * std::popcount(head.groups)) return wrong_length();
  Codes codes;
  const std::uint64_t words = read_codes(head, reader, codes);
  if (reader.left() < 4 * words || (!head.has_patches && reader.left() != 4 * words)) {
    return wrong_length();
  }
  const IndexBox box(chunk.shape);
  Indices indices;
  read_digits(box, codes, reader, indices);
  indices[0] = corner;
  if (head.is_differenced) box.sum(indices);
  std::byte* to = out;
  box.for_rows([&](int at) {
    for (int x = 0; x < box.columns; ++x) {
      store(to + x * sizeof(Value), value_at(indices[at + x], lattice));
    }
    to += box.columns * sizeof(Value);
  });
  if (head.has_patches && !read_patches<Value>(box, reader, out)) return wrong_length();
  return {};
}

}  // namespace

Status decode_box(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  return chunk.dtype == Dtype::kF32 ? decode_values<float>(encoded, chunk, parameter, out)
                                    : decode_values<double>(encoded, chunk, parameter, out);
}

}  // namespace thinwire::codec::szp
