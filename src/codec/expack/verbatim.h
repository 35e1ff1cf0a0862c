// Signs and mantissas as they are, of a multiple of 8 values, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "codec/expack/rows.h"

namespace thinwire::codec::expack {

inline void put_bf16(const std::byte* source, std::uint32_t values, const Parts& parts,
                     std::byte* out) {
  std::byte* const plane = out + parts.plane[0];
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto word = load<std::uint16_t>(source + 2 * at);
    plane[at] = static_cast<std::byte>((word & 0x7F) | (word >> 8 & 0x80));
  }
}

// The planes of two bits and of one bit, of the lowest two bits and the highest one of bytes that
// are `step` apart.
template <std::size_t step>
inline void put_pairs_and_signs(const std::byte* bytes, std::uint32_t values, const Parts& parts,
                                std::byte* out) {
  for (std::uint32_t group = 0; group < values / kGroupValues; ++group) {
    std::uint64_t highs = 0;
    for (std::size_t at = 0; at < kGroupValues; ++at) {
      highs |= static_cast<std::uint64_t>(bytes[step * (kGroupValues * group + at)]) << (8 * at);
    }
    store(out + parts.plane[1] + 2 * group, join_pairs(highs));
    out[parts.plane[2] + group] = static_cast<std::byte>(join_bits(highs >> 7));
  }
  const std::uint32_t pairs_end = parts.plane[1] + values / 4;
  const std::uint32_t signs_end = parts.plane[2] + values / 8;
  std::memset(out + pairs_end, 0, parts.plane[2] - pairs_end);
  std::memset(out + signs_end, 0, parts.inner - signs_end);
}

inline void put_f16(const std::byte* source, std::uint32_t values, const Parts& parts,
                    std::byte* out) {
  std::byte* const plane = out + parts.plane[0];
  for (std::uint32_t at = 0; at < values; ++at) plane[at] = source[2 * at];
  put_pairs_and_signs<2>(source + 1, values, parts, out);
}

inline void put_e4m3(const std::byte* source, std::uint32_t values, const Parts& parts,
                     std::byte* out) {
  for (std::uint32_t group = 0; group < values / kGroupValues; ++group) {
    const auto bytes = load<std::uint64_t>(source + kGroupValues * group);
    const std::uint64_t kept = (bytes & 7 * kEach) | (bytes >> 4 & 8 * kEach);
    store(out + parts.plane[0] + 4 * group, join_fours(kept));
  }
  const std::uint32_t end = parts.plane[0] + values / 2;
  std::memset(out + end, 0, parts.inner - end);
}

inline void put_f32(const std::byte* source, std::uint32_t values, const Parts& parts,
                    std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto word = load<std::uint32_t>(source + 4 * at);
    store(out + parts.plane[0] + 2 * at, static_cast<std::uint16_t>(word));
  }
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto word = load<std::uint32_t>(source + 4 * at);
    out[parts.plane[1] + at] = static_cast<std::byte>((word >> 16 & 0x7F) | (word >> 24 & 0x80));
  }
}

template <Dtype kDtype>
inline void put_verbatim(const std::byte* source, std::uint32_t values, const Parts& parts,
                         std::byte* out) {
  if constexpr (kDtype == Dtype::kBf16) put_bf16(source, values, parts, out);
  if constexpr (kDtype == Dtype::kF16) put_f16(source, values, parts, out);
  if constexpr (kDtype == Dtype::kF32) put_f32(source, values, parts, out);
  if constexpr (kDtype == Dtype::kE4m3) put_e4m3(source, values, parts, out);
  if constexpr (kDtype == Dtype::kE5m2) put_pairs_and_signs<1>(source, values, parts, out);
}

inline void join_bf16(const std::byte* in, const Parts& parts, const ByteRows& exponents,
                      std::uint32_t values, std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto kept = static_cast<std::uint32_t>(in[parts.plane[0] + at]);
    const std::uint32_t exponent = exponents[at];
    store(out + 2 * at,
          static_cast<std::uint16_t>((kept & 0x80) << 8 | exponent << 7 | (kept & 0x7F)));
  }
}

// The bytes that end in the plane of two bits and begin with a sign, but for their exponents.
inline void join_pairs_and_signs(const std::byte* in, const Parts& parts, std::uint32_t values,
                                 std::byte* highs) {
  for (std::uint32_t group = 0; group < values / kGroupValues; ++group) {
    const auto pairs = load<std::uint16_t>(in + parts.plane[1] + 2 * group);
    const auto signs = static_cast<std::uint8_t>(in[parts.plane[2] + group]);
    store(highs + kGroupValues * group, split_pairs(pairs) | split_bits(signs) << 7);
  }
}

inline void join_f16(const std::byte* in, const Parts& parts, const ByteRows& exponents,
                     std::uint32_t values, std::byte* out) {
  ByteRows highs;
  join_pairs_and_signs(in, parts, values, reinterpret_cast<std::byte*>(highs.data()));
  for (std::uint32_t at = 0; at < values; ++at) {
    const std::uint32_t exponent = exponents[at] & Format<Dtype::kF16>::kLargest;
    const std::uint32_t high = highs[at] | exponent << 2;
    const auto low = static_cast<std::uint32_t>(in[parts.plane[0] + at]);
    store(out + 2 * at, static_cast<std::uint16_t>(high << 8 | low));
  }
}

inline void join_e4m3(const std::byte* in, const Parts& parts, std::uint32_t values,
                      std::byte* out) {
  for (std::uint32_t group = 0; group < values / kGroupValues; ++group) {
    const auto kept = split_fours(load<std::uint32_t>(in + parts.plane[0] + 4 * group));
    store(out + kGroupValues * group, (kept & 7 * kEach) | (kept & 8 * kEach) << 4);
  }
}

// Exponents into values of 8 bits that have all else.
template <Dtype kDtype>
inline void put_exponents(const ByteRows& exponents, std::uint32_t values, std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    const std::uint32_t exponent = exponents[at] & Format<kDtype>::kLargest;
    out[at] |= static_cast<std::byte>(exponent << Format<kDtype>::kShift);
  }
}

inline void join_f32(const std::byte* in, const Parts& parts, const ByteRows& exponents,
                     std::uint32_t values, std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    const std::uint32_t low = load<std::uint16_t>(in + parts.plane[0] + 2 * at);
    const auto high = static_cast<std::uint32_t>(in[parts.plane[1] + at]);
    const std::uint32_t exponent = exponents[at];
    store(out + 4 * at, (high & 0x80) << 24 | exponent << 23 | (high & 0x7F) << 16 | low);
  }
}

// The reverse: values out of their exponents and what was stored as it is.
template <Dtype kDtype>
inline void join_values(const std::byte* in, const Parts& parts, const ByteRows& exponents,
                        std::uint32_t values, std::byte* out) {
  if constexpr (kDtype == Dtype::kBf16) join_bf16(in, parts, exponents, values, out);
  if constexpr (kDtype == Dtype::kF16) join_f16(in, parts, exponents, values, out);
  if constexpr (kDtype == Dtype::kF32) join_f32(in, parts, exponents, values, out);
  if constexpr (kDtype == Dtype::kE4m3) join_e4m3(in, parts, values, out);
  if constexpr (kDtype == Dtype::kE5m2) join_pairs_and_signs(in, parts, values, out);
  if constexpr (sizeof(WordOf<kDtype>) == 1) put_exponents<kDtype>(exponents, values, out);
}

}  // namespace thinwire::codec::expack
