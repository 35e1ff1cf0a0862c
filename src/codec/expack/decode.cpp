#include <algorithm>

#include "codec/expack/chunk.h"
#include "codec/expack/rows.h"
#include "codec/expack/vector_clones.h"

namespace thinwire::codec::expack {
namespace {

struct Head {
  std::uint32_t outer_codes;
  std::uint32_t raw_exponents;
  unsigned kind;
};

inline std::uint32_t count_outer(const std::byte* inner, std::uint32_t rows) {
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < rows * (kRowValues / 4); at += 8) {
    const auto codes = load<std::uint64_t>(inner + at);
    count += static_cast<std::uint32_t>(std::popcount(codes & codes >> 1 & 0x5555555555555555u));
  }
  return count;
}

// Distances of a chunk of an entropy kind. `outer` may be read 8 bytes past its end.
template <Dtype kDtype>
inline void take_distances(const std::byte* inner, const std::byte* outer, unsigned kind,
                           std::uint32_t rows, ByteRows& distances) {
  // By the inner code, or by 3 and the outer one.
  const std::uint64_t outer_table = outer_distances(kind);
  const std::uint64_t low = (inner_distances(kind) & 0xFFFFFFu) | outer_table << 24;
  const std::uint64_t high = outer_table >> 40;
  std::uint32_t taken = 0;  // bits
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::array<std::uint64_t, kRowGroups> codes;
    std::array<std::uint32_t, kRowGroups> lengths;
    std::array<std::uint32_t, kRowGroups> threes;
    for (int group = 0; group < kRowGroups; ++group) {
      codes[group] = split_pairs(load<std::uint16_t>(inner + 2 * (row * kRowGroups + group)));
      lengths[group] = 3 * sum_bytes(codes[group] & codes[group] >> 1 & kEach);
    }
    for (int group = 0; group < kRowGroups; ++group) {
      threes[group] =
          static_cast<std::uint32_t>(load<std::uint64_t>(outer + taken / 8) >> (taken % 8));
      taken += lengths[group];
    }
    std::uint8_t* const of_row = distances.data() + row * kRowValues;
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t chosen = codes[group] & codes[group] >> 1 & kEach;
      const std::uint64_t spread = apart(split_threes(threes[group]), find_moves(chosen));
      put_group_bytes<kDtype>(of_row, group, codes[group] + (spread & whole_bytes(chosen)));
    }
    look_up_row(low, high, of_row);
  }
}

// The same of a fixed kind.
template <Dtype kDtype>
inline void take_fixed_distances(const std::byte* inner, const std::byte* high, unsigned kind,
                                 std::uint32_t rows, ByteRows& distances) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint8_t* const of_row = distances.data() + row * kRowValues;
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint32_t at = row * kRowGroups + group;
      const std::uint64_t codes = split_pairs(load<std::uint16_t>(inner + 2 * at)) |
                                  split_bits(static_cast<std::uint8_t>(high[at])) << 2;
      put_group_bytes<kDtype>(of_row, group, codes);
    }
    look_up_row(outer_distances(kind), 0, of_row);
  }
}

// Distances to exponents, but for raw ones.
inline void add_base(std::uint8_t* row, std::uint8_t base) {
  for (int at = 0; at < kRowValues; ++at) {
    const auto exponent = static_cast<std::uint8_t>(base + (row[at] & kDistanceBits));
    row[at] = (row[at] & kZeroMark) != 0 ? 0 : exponent;
  }
}

// Puts the raw exponents of a row in place; `marks` are its distances. False where there are too
// few.
template <Dtype kDtype>
inline bool put_raw(const std::uint8_t* marks, ByteView& raw, std::uint8_t* exponents) {
  for (int group = 0; group < kRowGroups; ++group) {
    std::uint64_t left = group_bytes<kDtype>(marks, group) & kEach * kRawMark;
    if (left == 0) continue;
    if (static_cast<std::size_t>(std::popcount(left)) > raw.size()) return false;
    std::uint64_t bytes = group_bytes<kDtype>(exponents, group);
    for (; left != 0; left &= left - 1) {
      const int place = std::countr_zero(left) & ~7;
      bytes &= ~(std::uint64_t{0xFF} << place);
      bytes |= static_cast<std::uint64_t>(raw.front()) << place;
      raw = raw.subspan(1);
    }
    put_group_bytes<kDtype>(exponents, group, bytes);
  }
  return true;
}

template <Dtype kDtype>
inline bool take_exponents_of(const std::byte* in, const Parts& parts, const Head& head,
                              std::uint32_t rows, ByteRows& exponents) {
  if ((head.kind & kEntropyBit) != 0) {
    std::array<std::byte, kMostValues * 3 / 8 + 16> outer;
    const std::uint32_t bytes = parts.raw - parts.high_or_outer;
    std::memcpy(outer.data(), in + parts.high_or_outer, bytes);
    std::memset(outer.data() + bytes, 0, 8);
    take_distances<kDtype>(in + parts.inner, outer.data(), head.kind, rows, exponents);
  } else {
    take_fixed_distances<kDtype>(in + parts.inner, in + parts.high_or_outer, head.kind, rows,
                                 exponents);
  }
  ByteView raw(in + parts.raw, head.raw_exponents);
  std::uint32_t largest_base = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint8_t* const of_row = exponents.data() + row * kRowValues;
    std::array<std::uint8_t, kRowValues> marks;
    std::copy_n(of_row, kRowValues, marks.data());
    const auto base = static_cast<std::uint32_t>(in[parts.bases + row]);
    largest_base = std::max(largest_base, base);
    add_base(of_row, static_cast<std::uint8_t>(base));
    if (!put_raw<kDtype>(marks.data(), raw, of_row)) return false;
  }
  return raw.empty() && largest_base <= kLargestBase<kDtype>;
}

inline bool take_head(ByteView encoded, Head& head) {
  if (encoded.size() < kHeadBytes) return false;
  const auto word = load<std::uint64_t>(encoded.data());
  head = {static_cast<std::uint32_t>(word & 0xFFFF),
          static_cast<std::uint32_t>(word >> 16 & 0xFFFF),
          static_cast<unsigned>(word >> 32 & 0xFF)};
  if (word >> 40 != 0 || head.kind >= kKinds) return false;
  return (head.kind & kEntropyBit) != 0 || head.outer_codes == 0;
}

template <Dtype kDtype>
inline bool decode_values(ByteView encoded, std::uint32_t values, std::byte* out) {
  const std::uint32_t rows = rows_of(values);
  Head head{};
  if (!take_head(encoded, head)) return false;
  if (std::max(head.outer_codes, head.raw_exponents) > rows * kRowValues) return false;
  const Parts parts = parts_of<kDtype>(rows, head.kind, head.outer_codes, head.raw_exponents);
  if (encoded.size() != parts.end) return false;
  if ((head.kind & kEntropyBit) != 0 &&
      count_outer(encoded.data() + parts.inner, rows) != head.outer_codes) {
    return false;
  }
  ByteRows exponents;
  if (!take_exponents_of<kDtype>(encoded.data(), parts, head, rows, exponents)) return false;
  if (values % kRowValues == 0) {
    join_values<kDtype>(encoded.data(), parts, exponents, values, out);
  } else {
    std::array<std::byte, kChunkBytes> filled;
    join_values<kDtype>(encoded.data(), parts, exponents, rows * kRowValues, filled.data());
    std::memcpy(out, filled.data(), values * Format<kDtype>::kValueBytes);
  }
  return true;
}

THINWIRE_EXPACK_CLONES
bool decode_bf16(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kBf16>(encoded, values, out);
}

THINWIRE_EXPACK_CLONES
bool decode_f16(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kF16>(encoded, values, out);
}

THINWIRE_EXPACK_CLONES
bool decode_f32(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kF32>(encoded, values, out);
}

}  // namespace

Status decode_chunk(ByteView encoded, const Chunk& chunk, std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  const bool decoded = chunk.dtype == Dtype::kBf16  ? decode_bf16(encoded, values, out)
                       : chunk.dtype == Dtype::kF16 ? decode_f16(encoded, values, out)
                                                    : decode_f32(encoded, values, out);
  if (decoded) return {};
  return {StatusCode::kDamaged, "expack: the payload's parts do not agree with each other"};
}

}  // namespace thinwire::codec::expack
