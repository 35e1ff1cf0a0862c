// The bricks of one chunk on the host: bit planes side by side, so that a vector unit works on many
// bricks at once.
#pragma once

#include "base/dtype.h"
#include "codec/lorenzo/core.h"

namespace thinwire::codec::lorenzo {

// Row `r` of brick `b` stands at word[r][b]. Some columns more than there are bricks, so that rows
// do not all fall into the same lines of a cache.
struct BrickMatrices {
  static constexpr int kColumns = kBoxBricks + 16;
  std::uint32_t word[kBrickWords][kColumns];
};

// The clipped box of a chunk without the axes that do not count.
struct ChunkBox {
  int dimension;
  std::uint32_t x, y, z;

  explicit ChunkBox(const Shape& shape);
};

// Planes of the halves of each brick that are to be stored.
struct Widths {
  std::uint8_t a[BrickMatrices::kColumns];
  std::uint8_t b[BrickMatrices::kColumns];
};

// The values at `source`, in the order of the box and at any alignment, to the planes of their
// residuals, and back.
template <typename Word>
void make_planes(const std::byte* source, const ChunkBox& box, int tuple, BrickMatrices& matrices,
                 Widths& widths);
template <typename Word>
void restore_values(BrickMatrices& matrices, const ChunkBox& box, int tuple, std::byte* out);

}  // namespace thinwire::codec::lorenzo
