#include <algorithm>

#include "codec/expack/chunk.h"
#include "codec/expack/rows.h"
#include "codec/expack/vector_clones.h"

namespace thinwire::codec::expack {
namespace {

inline void symbols_to_codes(unsigned kind, std::uint32_t rows, ByteRows& bytes) {
  const CodeTable table = code_table(kind);
  for (std::uint32_t row = 0; row < rows; ++row) {
    look_up_row(table.low, table.high, bytes.data() + row * kRowValues);
  }
}

template <Dtype kDtype>
inline void put_inner(const ByteRows& codes, std::uint32_t rows, std::byte* out) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(codes.data() + row * kRowValues, group);
      store(out + 2 * (row * kRowGroups + group), join_pairs(bytes));
    }
  }
}

template <Dtype kDtype>
inline void put_high_bits(const ByteRows& codes, std::uint32_t rows, std::byte* out) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(codes.data() + row * kRowValues, group);
      out[row * kRowGroups + group] = static_cast<std::byte>(join_bits(bytes >> 2));
    }
  }
}

// `out` has room for the codes and 8 bytes more.
template <Dtype kDtype>
inline void put_outer(const ByteRows& codes, std::uint32_t rows, std::byte* out) {
  std::uint64_t bits = 0;
  std::uint32_t count = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::array<std::uint32_t, kRowGroups> threes;
    std::array<std::uint32_t, kRowGroups> lengths;
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(codes.data() + row * kRowValues, group);
      const std::uint64_t chosen = bytes >> 2 & kEach;
      threes[group] = join_threes(together(bytes >> 4 & 7 * kEach, find_moves(chosen)));
      lengths[group] = 3 * sum_bytes(chosen);
    }
    for (int group = 0; group < kRowGroups; ++group) {
      bits |= std::uint64_t{threes[group]} << count;
      count += lengths[group];
      store(out, static_cast<std::uint32_t>(bits));
      const bool is_full = count >= 32;
      out += is_full ? 4 : 0;
      bits >>= is_full ? 32 : 0;
      count -= is_full ? 32 : 0;
    }
  }
  store(out, bits);
}

template <Dtype kDtype>
inline void put_raw(const ByteRows& codes, const ByteRows& exponents, std::uint32_t rows,
                    std::byte* out) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      std::uint64_t raw = group_bytes<kDtype>(codes.data() + row * kRowValues, group);
      raw &= kEach * kRawFlag;
      if (raw == 0) continue;
      const std::uint64_t bytes = group_bytes<kDtype>(exponents.data() + row * kRowValues, group);
      for (; raw != 0; raw &= raw - 1) {
        *out++ = static_cast<std::byte>(bytes >> (std::countr_zero(raw) & ~7));
      }
    }
  }
}

// The last row filled up with copies of the last value.
template <Dtype kDtype>
inline void fill_up(const std::byte* source, std::uint32_t values, std::byte* filled) {
  constexpr int kBytes = Format<kDtype>::kValueBytes;
  std::memcpy(filled, source, values * kBytes);
  for (std::uint32_t at = values; at < rows_of(values) * kRowValues; ++at) {
    std::memcpy(filled + at * kBytes, source + (values - 1) * kBytes, kBytes);
  }
}

// Of whole rows.
template <Dtype kDtype>
inline std::uint64_t encode_rows(const std::byte* source, std::uint32_t rows, std::uint64_t most,
                                 std::uint64_t mode, std::byte* out) {
  const std::uint32_t values = rows * kRowValues;
  ByteRows exponents;
  ByteRows codes;
  std::array<std::uint8_t, kMostRows> bases{};
  take_exponents<kDtype>(source, values, exponents);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint8_t* const of_row = exponents.data() + row * kRowValues;
    bases[row] = static_cast<std::uint8_t>(base_of_row<kDtype>(of_row));
    take_symbols(of_row, bases[row], codes.data() + row * kRowValues);
  }
  const Counts counts = count_codes(codes, values);
  const unsigned kind = best_kind(counts, values, mode);
  const Parts parts = parts_of<kDtype>(rows, kind, counts.outer[kind], counts.raw[kind]);
  if (parts.end >= most) return most;

  symbols_to_codes(kind, rows, codes);
  store(out, head_word(kind, counts.outer[kind], counts.raw[kind]));
  std::memcpy(out + parts.bases, bases.data(), filled_up(rows));
  put_verbatim<kDtype>(source, values, parts, out);
  put_inner<kDtype>(codes, rows, out + parts.inner);
  if ((kind & kEntropyBit) != 0) {
    std::array<std::byte, kMostValues * 3 / 8 + 16> outer;
    put_outer<kDtype>(codes, rows, outer.data());
    std::memcpy(out + parts.high_or_outer, outer.data(), parts.raw - parts.high_or_outer);
  } else {
    put_high_bits<kDtype>(codes, rows, out + parts.high_or_outer);
  }
  std::memset(out + parts.raw, 0, parts.end - parts.raw);
  put_raw<kDtype>(codes, exponents, rows, out + parts.raw);
  return parts.end;
}

template <Dtype kDtype>
inline std::uint64_t encode_values(const std::byte* source, std::uint32_t values,
                                   std::uint64_t mode, std::byte* out) {
  const std::uint64_t most = std::uint64_t{values} * Format<kDtype>::kValueBytes;
  if (values % kRowValues == 0) {
    return encode_rows<kDtype>(source, values / kRowValues, most, mode, out);
  }
  std::array<std::byte, kChunkBytes> filled;
  fill_up<kDtype>(source, values, filled.data());
  return encode_rows<kDtype>(filled.data(), rows_of(values), most, mode, out);
}

THINWIRE_EXPACK_CLONES
std::uint64_t encode_bf16(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                          std::byte* out) {
  return encode_values<Dtype::kBf16>(source, values, mode, out);
}

THINWIRE_EXPACK_CLONES
std::uint64_t encode_f16(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                         std::byte* out) {
  return encode_values<Dtype::kF16>(source, values, mode, out);
}

THINWIRE_EXPACK_CLONES
std::uint64_t encode_f32(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                         std::byte* out) {
  return encode_values<Dtype::kF32>(source, values, mode, out);
}

}  // namespace

std::uint64_t encode_chunk(const std::byte* source, const Chunk& chunk, std::uint64_t mode,
                           std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  if (chunk.dtype == Dtype::kBf16) return encode_bf16(source, values, mode, out);
  if (chunk.dtype == Dtype::kF16) return encode_f16(source, values, mode, out);
  return encode_f32(source, values, mode, out);
}

}  // namespace thinwire::codec::expack
