#include <algorithm>

#include "base/vector_units.h"
#include "codec/expack/chunk.h"
#include "codec/expack/dictionary.h"
#include "codec/expack/exponents_to_codes.h"
#include "codec/expack/mask.h"
#include "codec/expack/verbatim.h"

namespace thinwire::codec::expack {
namespace {

// Places in a dictionary instead of the codes, if they take less.
template <Dtype kDtype>
inline Dictionary try_dictionary(const ByteRows& exponents, std::uint32_t rows, std::uint64_t mode,
                                 Codes& codes) {
  if (!may_have_dictionary(mode, rows, codes.outer_bits, codes.raw_exponents)) return {};
  Dictionary dictionary = make_dictionary(exponents, rows, codes.outer_bits, codes.raw_exponents);
  if (dictionary.width == kWidths) return dictionary;
  ByteRows places;
  find_places(dictionary, exponents, rows * kRowValues, places);
  std::memcpy(codes.inner.data(), dictionary.exponents.data(), kDictionarySize);
  put_places<kDtype>(places, rows, dictionary.width, codes.outer.data());
  codes.raw_exponents = 0;
  const std::uint32_t each = stretch_rows(rows);
  for (std::uint32_t place = 0; place < kStretches; ++place) {
    const std::uint32_t first = std::min(place * each, rows);
    const std::uint32_t at = first * kRowValues;
    const ExponentStretch<kDtype> stretch{exponents.data() + at, places.data() + at, first,
                                          std::min(each, rows - first), 0};
    put_raw(stretch, kRawPlace, codes);
    codes.head[place] = head_word(0, dictionary.width, codes.raw_exponents);
  }
  return dictionary;
}

// A payload's part, filled up with zeros.
inline void put_part(const void* part, std::uint32_t bytes, std::byte* out, std::uint32_t room) {
  std::memcpy(out, part, bytes);
  std::memset(out + bytes, 0, room - bytes);
}

// Encodes the values of whole rows: all of a chunk's, or those that `mask` keeps.
template <Dtype kDtype>
inline std::uint64_t encode_rows(const std::byte* source, const Extent& extent,
                                 const std::byte* mask, std::uint64_t most, std::uint64_t mode,
                                 std::byte* out) {
  const std::uint32_t rows = extent.rows;
  ByteRows exponents;
  Codes codes;
  take_exponents<kDtype>(source, rows * kRowValues, exponents);
  code_rows<kDtype>(exponents, rows, mode, codes);
  const Dictionary dictionary = try_dictionary<kDtype>(exponents, rows, mode, codes);
  const bool has_dictionary = dictionary.width < kWidths;
  const Parts parts =
      has_dictionary ? dictionary_parts_of<kDtype>(extent, dictionary.width, codes.raw_exponents)
                     : parts_of<kDtype>(extent, codes.outer_bits, codes.raw_exponents);
  if (parts.end >= most) return most;
  for (std::uint32_t place = 0; place < kStretches; ++place) {
    codes.head[place] |= head_flag(place, extent.mask_bytes > 0, has_dictionary);
  }
  put_part(codes.head.data(), kHeadBytes, out, kHeadBytes);
  std::copy_n(mask, extent.mask_bytes, out + kHeadBytes);
  put_part(codes.bases.data(), rows, out + parts.bases, parts.plane[0] - parts.bases);
  put_verbatim<kDtype>(source, extent.verbatim, parts, out);
  put_part(codes.inner.data(), parts.outer - parts.inner, out + parts.inner,
           parts.outer - parts.inner);
  const std::uint32_t outer_bytes =
      has_dictionary ? parts.raw - parts.outer : (codes.outer_bits + 7) / 8;
  put_part(codes.outer.data(), outer_bytes, out + parts.outer, parts.raw - parts.outer);
  put_part(codes.raw.data(), codes.raw_exponents, out + parts.raw, parts.end - parts.raw);
  return parts.end;
}

// The last row filled up with copies of the value before.
template <Dtype kDtype>
inline void fill_up(FilledValues& filled, std::uint32_t values) {
  constexpr int kBytes = Format<kDtype>::kValueBytes;
  for (std::uint32_t at = values; at < rows_of(values) * kRowValues; ++at) {
    std::memcpy(filled.data() + at * kBytes, filled.data() + (values - 1) * kBytes, kBytes);
  }
}

// Encodes a chunk with a mask; `filled` has its values and then zeros up to a whole row.
template <Dtype kDtype>
inline std::uint64_t encode_masked(const std::byte* filled, std::uint32_t rows, std::uint64_t most,
                                   std::uint64_t mode, std::byte* out) {
  std::array<std::byte, kMostValues / 8> mask;
  FilledValues kept;
  const std::uint32_t count = leave_zeros_out<kDtype>(filled, rows, mask.data(), kept);
  if (count > 0) {
    fill_up<kDtype>(kept, count);
    return encode_rows<kDtype>(kept.data(), masked_extent(count, rows), mask.data(), most, mode,
                               out);
  }
  if (kHeadBytes >= most) return most;
  std::memset(out, 0, kHeadBytes);
  store(out, kHeadFlag);
  return kHeadBytes;
}

template <Dtype kDtype>
inline std::uint64_t encode_values(const std::byte* source, std::uint32_t values,
                                   std::uint64_t mode, std::byte* out) {
  const std::uint64_t most = std::uint64_t{values} * Format<kDtype>::kValueBytes;
  const bool has_mask = takes_mask<kDtype>(count_exact_zeros<kDtype>(source, values), values);
  const std::uint32_t rows = rows_of(values);
  FilledValues filled;
  if (values % kRowValues != 0) {
    std::memcpy(filled.data(), source, most);
    std::memset(filled.data() + most, 0, filled.size() - most);
    if (!has_mask) fill_up<kDtype>(filled, values);
    source = filled.data();
  }
  if (has_mask) return encode_masked<kDtype>(source, rows, most, mode, out);
  return encode_rows<kDtype>(source, whole_extent(rows), nullptr, most, mode, out);
}

THINWIRE_VECTOR_CLONES
std::uint64_t encode_bf16(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                          std::byte* out) {
  return encode_values<Dtype::kBf16>(source, values, mode, out);
}

THINWIRE_VECTOR_CLONES
std::uint64_t encode_f16(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                         std::byte* out) {
  return encode_values<Dtype::kF16>(source, values, mode, out);
}

THINWIRE_VECTOR_CLONES
std::uint64_t encode_f32(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                         std::byte* out) {
  return encode_values<Dtype::kF32>(source, values, mode, out);
}

THINWIRE_VECTOR_CLONES
std::uint64_t encode_e4m3(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                          std::byte* out) {
  return encode_values<Dtype::kE4m3>(source, values, mode, out);
}

THINWIRE_VECTOR_CLONES
std::uint64_t encode_e5m2(const std::byte* source, std::uint32_t values, std::uint64_t mode,
                          std::byte* out) {
  return encode_values<Dtype::kE5m2>(source, values, mode, out);
}

}  // namespace

std::uint64_t encode_chunk(const std::byte* source, const Chunk& chunk, std::uint64_t mode,
                           std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  if (chunk.dtype == Dtype::kBf16) return encode_bf16(source, values, mode, out);
  if (chunk.dtype == Dtype::kF16) return encode_f16(source, values, mode, out);
  if (chunk.dtype == Dtype::kE4m3) return encode_e4m3(source, values, mode, out);
  if (chunk.dtype == Dtype::kE5m2) return encode_e5m2(source, values, mode, out);
  return encode_f32(source, values, mode, out);
}

}  // namespace thinwire::codec::expack
