// One block of four fp32 values: its coefficients, and its bits as one or two words.
// See spec/codec-zfp.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/exponent.h"
#include "codec/zfp/line_planes.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

// The coefficients of a block, in negabinary.
THINWIRE_HOST_DEVICE constexpr Block line_coefficients(const float* v, float scale) {
  Block b = {quantise(v[0], scale), quantise(v[1], scale), quantise(v[2], scale),
             quantise(v[3], scale)};
  forward_lift(b.x, b.y, b.z, b.w);
  return {to_negabinary(b.x), to_negabinary(b.y), to_negabinary(b.z), to_negabinary(b.w)};
}

THINWIRE_HOST_DEVICE constexpr void line_values(const Block& u, float scale, float* v) {
  Block b = {from_negabinary(u.x), from_negabinary(u.y), from_negabinary(u.z),
             from_negabinary(u.w)};
  inverse_lift(b.x, b.y, b.z, b.w);
  v[0] = restore(b.x, scale);
  v[1] = restore(b.y, scale);
  v[2] = restore(b.z, scale);
  v[3] = restore(b.w, scale);
}

// The bits of a block from its header on, the first one lowest; `second` for those from 64 on.
struct LineBits {
  std::uint64_t first;
  std::uint64_t second;
};

// The first `block_bits` bits of the block with this header (0 if it is empty), and zeros after
// them.
THINWIRE_HOST_DEVICE inline LineBits line_bits(const Tables& tables, const Block& coefficients,
                                               const Planes& planes, std::uint32_t header,
                                               int block_bits) {
  constexpr int kHeader = kHeaderBits<float>;
  if (block_bits <= 64) {
    const auto stream = encode_planes<std::uint64_t>(tables, coefficients, planes);
    return {(reverse_bits(stream) << kHeader | header) & low_bits_mask(block_bits), 0};
  }
  const auto stream = encode_planes<Uint128>(tables, coefficients, planes);
  const std::uint64_t first = reverse_bits(top_of(stream));
  const std::uint64_t second = reverse_bits(static_cast<std::uint64_t>(stream));
  return {first << kHeader | header,
          (second << kHeader | first >> (64 - kHeader)) & low_bits_mask(block_bits - 64)};
}

// The planes of a block; those of an empty one have no ones.
THINWIRE_HOST_DEVICE inline Planes line_planes(const Tables& tables, const LineBits& bits,
                                               int block_bits) {
  constexpr int kHeader = kHeaderBits<float>;
  const int budget = block_bits - kHeader;
  if ((bits.first & 1) == 0) return {};
  if (block_bits <= 64) return decode_planes(tables, reverse_bits(bits.first >> kHeader), budget);
  const std::uint64_t low = bits.first >> kHeader | bits.second << (64 - kHeader);
  return decode_planes(
      tables, Uint128{reverse_bits(low)} << 64 | reverse_bits(bits.second >> kHeader), budget);
}

}  // namespace thinwire::codec::zfp
