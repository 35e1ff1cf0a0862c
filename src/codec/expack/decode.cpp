#include "base/vector_units.h"
#include "codec/expack/choices.h"
#include "codec/expack/chunk.h"
#include "codec/expack/codes_to_exponents.h"
#include "codec/expack/mask.h"
#include "codec/expack/verbatim.h"

namespace thinwire::codec::expack {
namespace {

// The payload's parts and exponents. False if it is not of the size that its head says, or its
// parts disagree.
template <Dtype kDtype>
inline bool take_exponents_of(ByteView encoded, const Extent& extent, Parts& parts,
                              ByteRows& exponents) {
  const auto last = load<std::uint32_t>(encoded.data() + kHeadBytes - 4);
  const auto third = load<std::uint32_t>(encoded.data() + kHeadBytes - 8);
  if (((last | third) & kHeadFlag) != 0) return false;
  const std::uint32_t outer_end = outer_end_of(last);
  if ((load<std::uint32_t>(encoded.data() + 4) & kHeadFlag) != 0) {
    if (outer_end >= kWidths) return false;
    parts = dictionary_parts_of<kDtype>(extent, outer_end, raw_end_of(last));
    return encoded.size() == parts.end &&
           take_listed<kDtype>(encoded, parts, extent.rows, outer_end, exponents);
  }
  // No more outer codes than values, so that take_coded() holds them.
  if (outer_end > 3 * extent.rows * kRowValues) return false;
  parts = parts_of<kDtype>(extent, outer_end, raw_end_of(last));
  return encoded.size() == parts.end && take_coded<kDtype>(encoded, parts, extent.rows, exponents);
}

// The rows of a chunk of `values` values with a mask.
template <Dtype kDtype>
inline bool decode_masked(ByteView encoded, std::uint32_t values, std::byte* out) {
  const std::uint32_t rows = rows_of(values);
  if (encoded.size() == kHeadBytes) {
    if (load<std::uint32_t>(encoded.data()) != kHeadFlag ||
        load<std::uint32_t>(encoded.data() + 4) != 0 ||
        load<std::uint64_t>(encoded.data() + 8) != 0) {
      return false;
    }
    std::memset(out, 0, rows * kRowValues * Format<kDtype>::kValueBytes);
    return true;
  }
  const std::byte* const mask = encoded.data() + kHeadBytes;
  if (encoded.size() < kHeadBytes + rows * (kRowValues / 8)) return false;
  const std::uint32_t count = count_kept(mask, rows);
  if (!may_be_kept<kDtype>(count, values)) return false;
  const Extent extent = masked_extent(count, rows);
  Parts parts;
  ByteRows exponents;
  if (!take_exponents_of<kDtype>(encoded, extent, parts, exponents)) return false;
  FilledValues kept;
  join_values<kDtype>(encoded.data(), parts, exponents, extent.verbatim, kept.data());
  put_zeros_in<kDtype>(mask, kept, rows, out);
  return true;
}

template <Dtype kDtype>
inline bool decode_rows(ByteView encoded, std::uint32_t values, std::byte* out) {
  const std::uint32_t rows = rows_of(values);
  if ((load<std::uint32_t>(encoded.data()) & kHeadFlag) != 0) {
    return decode_masked<kDtype>(encoded, values, out);
  }
  Parts parts;
  ByteRows exponents;
  if (!take_exponents_of<kDtype>(encoded, whole_extent(rows), parts, exponents)) return false;
  join_values<kDtype>(encoded.data(), parts, exponents, rows * kRowValues, out);
  return true;
}

template <Dtype kDtype>
inline bool decode_values(ByteView encoded, std::uint32_t values, std::byte* out) {
  if (encoded.size() < kHeadBytes) return false;
  if (values % kRowValues == 0) return decode_rows<kDtype>(encoded, values, out);
  FilledValues filled;
  if (!decode_rows<kDtype>(encoded, values, filled.data())) return false;
  std::memcpy(out, filled.data(), values * Format<kDtype>::kValueBytes);
  return true;
}

THINWIRE_VECTOR_CLONES
bool decode_bf16(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kBf16>(encoded, values, out);
}

THINWIRE_VECTOR_CLONES
bool decode_f16(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kF16>(encoded, values, out);
}

THINWIRE_VECTOR_CLONES
bool decode_f32(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kF32>(encoded, values, out);
}

THINWIRE_VECTOR_CLONES
bool decode_e4m3(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kE4m3>(encoded, values, out);
}

THINWIRE_VECTOR_CLONES
bool decode_e5m2(ByteView encoded, std::uint32_t values, std::byte* out) {
  return decode_values<Dtype::kE5m2>(encoded, values, out);
}

bool decode_any(ByteView encoded, Dtype dtype, std::uint32_t values, std::byte* out) {
  if (dtype == Dtype::kBf16) return decode_bf16(encoded, values, out);
  if (dtype == Dtype::kF16) return decode_f16(encoded, values, out);
  if (dtype == Dtype::kE4m3) return decode_e4m3(encoded, values, out);
  if (dtype == Dtype::kE5m2) return decode_e5m2(encoded, values, out);
  return decode_f32(encoded, values, out);
}

}  // namespace

Status decode_chunk(ByteView encoded, const Chunk& chunk, std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  if (decode_any(encoded, chunk.dtype, values, out)) return {};
  return {StatusCode::kDamaged, "expack: the payload's parts do not agree with each other"};
}

}  // namespace thinwire::codec::expack
