#include "codec/zfp/blocks.h"

#include "codec/zfp/block.h"
#include "codec/zfp/block_bits.h"
#include "codec/zfp/gather.h"
#include "codec/zfp/sizes.h"
#include "codec/zfp/vector_clones.h"

namespace thinwire::codec::zfp {
namespace {

constexpr ExpandTable kExpand = make_expand_table();
constexpr SearchTable kSearch = make_search_table();

template <typename Scalar, int kRank>
bool encode_array(const std::byte* source, const Grid& grid, int block_bits, std::byte* out) {
  BitWriter stream(out);
  LocalWords<kPlaneWords<Scalar, kRank>> planes;
  for (std::uint64_t z = 0; z < Grid::blocks_along(grid.z); ++z) {
    for (std::uint64_t y = 0; y < Grid::blocks_along(grid.y); ++y) {
      for (std::uint64_t x = 0; x < Grid::blocks_along(grid.x); ++x) {
        Scalar values[kBlockValues<kRank>];
        gather_block<Scalar, kRank>(source, grid, block_place(grid, x, y, z), values);
        BlockHead head;
        if (!make_planes<Scalar, kRank>(values, head, planes)) return false;
        BlockWriter block(block_bits);
        put_block<Scalar, kRank>(kExpand, head, planes, block);
        block.finish(stream, block_bits);
      }
    }
  }
  stream.finish();
  return true;
}

template <typename Scalar, int kRank>
void decode_array(const std::byte* encoded, const Grid& grid, int block_bits, std::byte* out) {
  BitReader stream(encoded);
  LocalWords<kPlaneWords<Scalar, kRank>> planes;
  for (std::uint64_t z = 0; z < Grid::blocks_along(grid.z); ++z) {
    for (std::uint64_t y = 0; y < Grid::blocks_along(grid.y); ++y) {
      for (std::uint64_t x = 0; x < Grid::blocks_along(grid.x); ++x) {
        Scalar values[kBlockValues<kRank>];
        BlockReader block(stream, block_bits);
        decode_block<Scalar, kRank>(kSearch, block, block_bits, planes, values);
        scatter_block<Scalar, kRank>(values, grid, block_place(grid, x, y, z), out);
      }
    }
  }
}

// One function for each rank, because vector clones are of functions, not of templates.
#define THINWIRE_ZFP_CODERS(Scalar, kRank, suffix)                                        \
  THINWIRE_VECTOR_CLONES bool encode_##suffix(const std::byte* source, const Grid& grid,  \
                                              int block_bits, std::byte* out) {           \
    return encode_array<Scalar, kRank>(source, grid, block_bits, out);                    \
  }                                                                                       \
  THINWIRE_VECTOR_CLONES void decode_##suffix(const std::byte* encoded, const Grid& grid, \
                                              int block_bits, std::byte* out) {           \
    decode_array<Scalar, kRank>(encoded, grid, block_bits, out);                          \
  }

THINWIRE_ZFP_CODERS(float, 1, f32_1d)
THINWIRE_ZFP_CODERS(float, 2, f32_2d)
THINWIRE_ZFP_CODERS(float, 3, f32_3d)
THINWIRE_ZFP_CODERS(double, 1, f64_1d)
THINWIRE_ZFP_CODERS(double, 2, f64_2d)
THINWIRE_ZFP_CODERS(double, 3, f64_3d)

}  // namespace

bool encode_blocks(const std::byte* source, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out) {
  constexpr decltype(&encode_f32_1d) kEncode[2][kMaxRank] = {
      {encode_f32_1d, encode_f32_2d, encode_f32_3d}, {encode_f64_1d, encode_f64_2d, encode_f64_3d}};
  return kEncode[dtype == Dtype::kF64][shape.rank - 1](source, make_grid(shape), block_bits, out);
}

void decode_blocks(const std::byte* encoded, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out) {
  constexpr decltype(&decode_f32_1d) kDecode[2][kMaxRank] = {
      {decode_f32_1d, decode_f32_2d, decode_f32_3d}, {decode_f64_1d, decode_f64_2d, decode_f64_3d}};
  kDecode[dtype == Dtype::kF64][shape.rank - 1](encoded, make_grid(shape), block_bits, out);
}

}  // namespace thinwire::codec::zfp
