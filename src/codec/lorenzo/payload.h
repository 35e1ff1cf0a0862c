// The payload of one chunk on the host.
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "codec/lorenzo/bricks.h"

namespace thinwire::codec::lorenzo {

// Planes are copied without asking how many there are, then as many are kept as there are.
inline constexpr std::uint64_t kSlackBytes = kBrickWords * sizeof(std::uint32_t);

template <typename Word>
std::uint32_t bricks_of(const ChunkBox& box) {
  return brick_grid<Word>(box.dimension, box.x, box.y, box.z).count();
}

inline std::uint64_t whole_words(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Codes the values at `source`, in the order of the box and at any alignment, into `out`; returns
// the bytes of the payload. kSlackBytes after it may be written too.
template <typename Word>
std::uint64_t encode_values(const std::byte* source, const ChunkBox& box, int tuple,
                            std::byte* out);

// kDamaged if `encoded` cannot be the payload of such a chunk.
template <typename Word>
Status decode_values(ByteView encoded, const ChunkBox& box, int tuple, std::byte* out);

}  // namespace thinwire::codec::lorenzo
