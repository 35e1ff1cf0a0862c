// One block of 4^rank values to the bits of its stream and back, for every rank and dtype.
// See spec/codec-zfp.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/exponent.h"
#include "codec/zfp/plane_coder.h"
#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

// Words that the planes of a block take, as PlaneLayout numbers them.
template <typename Scalar, int kRank>
inline constexpr int kPlaneWords = kBlockValues<kRank> * FloatFormat<Scalar>::kBits / 32;

template <typename Scalar, int kValues>
THINWIRE_HOST_DEVICE constexpr IntegerOf<Scalar> largest_magnitude(
    const Scalar (&values)[kValues]) {
  IntegerOf<Scalar> largest = 0;
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) {
    const IntegerOf<Scalar> magnitude = magnitude_bits(values[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

// Writes the block to `writer` (see put_planes()), which fills up with zeros what is not put.
// False, and nothing useful written, where a value is NaN or infinite. `planes` is scratch:
// load(index) and store(index, word) for kPlaneWords words.
template <typename Scalar, int kRank, typename Words, typename Writer>
THINWIRE_HOST_DEVICE inline bool encode_block(const Scalar (&values)[kBlockValues<kRank>],
                                              Words& planes, Writer& writer) {
  constexpr int kValues = kBlockValues<kRank>;
  const IntegerOf<Scalar> largest = largest_magnitude(values);
  if (largest >= kInfinityBits<Scalar>) return false;
  const std::int32_t header = block_header<Scalar>(largest);
  if (header == 0) return true;

  const Scalar scale = forward_scale<Scalar>(largest);
  BitsOf<Scalar> block[kValues];
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) block[i] = quantise(values[i], scale);
  forward_transform<kRank>(block);
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) block[i] = to_negabinary(block[i]);
  to_planes<kRank>(block, planes);
  writer.put(static_cast<std::uint32_t>(header), kHeaderBits<Scalar>);
  put_planes<kValues, FloatFormat<Scalar>::kBits>(planes, writer);
  return true;
}

// Reads a block of `block_bits` bits from `reader` (see get_planes()). Any bits decode, and all
// values are written.
template <typename Scalar, int kRank, typename Words, typename Reader>
THINWIRE_HOST_DEVICE inline void decode_block(Reader& reader, int block_bits, Words& planes,
                                              Scalar (&values)[kBlockValues<kRank>]) {
  constexpr int kValues = kBlockValues<kRank>;
  constexpr int kHeader = kHeaderBits<Scalar>;
  const auto header = static_cast<std::uint32_t>(reader.window() & low_bits_mask(kHeader));
  if ((header & 1) == 0) {
    THINWIRE_UNROLL
    for (int i = 0; i < kValues; ++i) values[i] = 0;
    return;
  }
  reader.skip(kHeader);
  for (int i = 0; i < kPlaneWords<Scalar, kRank>; ++i) planes.store(i, 0);
  get_planes<kValues, FloatFormat<Scalar>::kBits>(reader, block_bits - kHeader,
                                                  lowest_plane<Scalar, kRank>(header), planes);

  BitsOf<Scalar> block[kValues];
  from_planes<kRank>(planes, block);
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) block[i] = from_negabinary(block[i]);
  inverse_transform<kRank>(block);
  const Scalar scale = inverse_scale<Scalar>(header);
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) values[i] = restore(block[i], scale);
}

}  // namespace thinwire::codec::zfp
