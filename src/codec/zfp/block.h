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

// The parts of a block's bits besides its planes.
struct BlockHead {
  std::int32_t header;  // 0 when empty
  int highest;          // plane with ones, or -1
};

// Computes the planes of a block; those of an empty one are not written. False, and nothing useful
// written, if a value is NaN or infinite. `planes` has load(index) and store(index, word) for
// kPlaneWords words.
template <typename Scalar, int kRank, typename Words>
THINWIRE_HOST_DEVICE inline bool make_planes(const Scalar (&values)[kBlockValues<kRank>],
                                             BlockHead& head, Words& planes) {
  constexpr int kValues = kBlockValues<kRank>;
  const IntegerOf<Scalar> largest = largest_magnitude(values);
  head = {.header = 0, .highest = -1};
  if (largest >= kInfinityBits<Scalar>) return false;
  head.header = block_header<Scalar>(largest);
  if (head.header == 0) return true;

  const Scalar scale = forward_scale<Scalar>(largest);
  BitsOf<Scalar> block[kValues];
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) block[i] = quantise(values[i], scale);
  forward_transform<kRank>(block);
  BitsOf<Scalar> any = 0;
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) {
    block[i] = to_negabinary(block[i]);
    any |= block[i];
  }
  head.highest = FloatFormat<Scalar>::kBits - 1 - leading_zeros(any);
  to_planes<kRank>(block, planes);
  return true;
}

// Writes a block to `writer` (see put_planes()), which fills up with zeros what is not put.
template <typename Scalar, int kRank, typename Words, typename Writer>
THINWIRE_HOST_DEVICE inline void put_block(const ExpandTable& table, const BlockHead& head,
                                           const Words& planes, Writer& writer) {
  if (head.header != 0) {
    writer.put(static_cast<std::uint32_t>(head.header), kHeaderBits<Scalar>);
    put_planes<kBlockValues<kRank>, FloatFormat<Scalar>::kBits>(table, planes, head.highest,
                                                                writer);
  }
}

// Reads the planes of a block of `block_bits` bits from `reader` (see get_planes()) into `planes`,
// all 0 before; returns its header. Any bits are a block, an empty one has no ones.
template <typename Scalar, int kRank, typename Words, typename Reader>
THINWIRE_HOST_DEVICE inline std::uint32_t get_block(const SearchTable& table, Reader& reader,
                                                    int block_bits, Words& planes) {
  constexpr int kHeader = kHeaderBits<Scalar>;
  const auto header = static_cast<std::uint32_t>(reader.window()) &
                      static_cast<std::uint32_t>(low_bits_mask(kHeader));
  if ((header & 1) != 0) {
    reader.skip(kHeader);
    get_planes<kBlockValues<kRank>, FloatFormat<Scalar>::kBits>(
        table, reader, block_bits - kHeader, lowest_plane<Scalar, kRank>(header), planes);
  }
  return header;
}

// The values of a block with this header.
template <typename Scalar, int kRank, typename Words>
THINWIRE_HOST_DEVICE inline void restore_values(std::uint32_t header, const Words& planes,
                                                Scalar (&values)[kBlockValues<kRank>]) {
  constexpr int kValues = kBlockValues<kRank>;
  BitsOf<Scalar> block[kValues];
  from_planes<kRank>(planes, block);
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) block[i] = from_negabinary(block[i]);
  inverse_transform<kRank>(block);
  const Scalar scale = inverse_scale<Scalar>(header);
  THINWIRE_UNROLL
  for (int i = 0; i < kValues; ++i) values[i] = restore(block[i], scale);
}

// Reads a block; all values are written.
template <typename Scalar, int kRank, typename Words, typename Reader>
THINWIRE_HOST_DEVICE inline void decode_block(const SearchTable& table, Reader& reader,
                                              int block_bits, Words& planes,
                                              Scalar (&values)[kBlockValues<kRank>]) {
  for (int i = 0; i < kPlaneWords<Scalar, kRank>; ++i) planes.store(i, 0);
  const std::uint32_t header = get_block<Scalar, kRank>(table, reader, block_bits, planes);
  restore_values<Scalar, kRank>(header, planes, values);
}

}  // namespace thinwire::codec::zfp
