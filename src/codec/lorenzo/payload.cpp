#include "codec/lorenzo/payload.h"

#include <algorithm>

namespace thinwire::codec::lorenzo {
namespace {

// ---- Widths ----

// Two bricks have 3 bytes.
void store_widths(const Widths& widths, std::uint32_t bricks, std::byte* out) {
  std::fill_n(out, width_bytes(bricks), std::byte{0});
  for (std::uint32_t brick = 0; brick < bricks; brick += 2) {
    const auto pair = [&](std::uint32_t at) -> std::uint32_t {
      return at < bricks ? widths.a[at] | widths.b[at] << kWidthBits : 0u;
    };
    const std::uint32_t both = pair(brick) | pair(brick + 1) << 2 * kWidthBits;
    for (std::uint32_t byte = 0; byte < 3 && brick / 2 * 3 + byte < width_bytes(bricks); ++byte) {
      out[brick / 2 * 3 + byte] = static_cast<std::byte>(both >> (8 * byte));
    }
  }
}

void load_widths(const std::byte* in, std::uint32_t bricks, Widths& widths) {
  constexpr unsigned kMask = (1u << kWidthBits) - 1;
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    // 12 bits, at the beginning or in the middle of a byte, in two bytes.
    const unsigned bytes = load<std::uint16_t>(in + brick * 3 / 2) >> (brick % 2 * 4);
    widths.a[brick] = static_cast<std::uint8_t>(bytes & kMask);
    widths.b[brick] = static_cast<std::uint8_t>(bytes >> kWidthBits & kMask);
  }
}

// ---- Planes ----

struct PlaneBytes {
  std::uint64_t joint = 0;
  std::uint64_t single = 0;
};

template <typename Word>
PlaneBytes plane_bytes(const Widths& widths, std::uint32_t bricks) {
  PlaneBytes bytes;
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    const std::uint64_t a = widths.a[brick], b = widths.b[brick];
    bytes.joint += 4 * (sizeof(Word) == 2 ? a + b : std::min(a, b));
    bytes.single += sizeof(Word) == 2 ? 0 : 2 * (std::max(a, b) - std::min(a, b));
  }
  return bytes;
}

// Stores 16-bit values: the planes of A, then those of B.
void store_planes_apart(const BrickMatrices& matrices, const Widths& widths, std::uint32_t bricks,
                        std::byte* out) {
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    for (int half = 0; half < 2; ++half) {
      for (int plane = 0; plane < 16; ++plane) {
        store(out + 4 * plane, matrices.word[16 * half + plane][brick]);
      }
      out += 4 * (half == 0 ? widths.a[brick] : widths.b[brick]);
    }
  }
}

void load_planes_apart(const std::byte* in, const Widths& widths, std::uint32_t bricks,
                       BrickMatrices& matrices) {
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    for (int half = 0; half < 2; ++half) {
      const int width = half == 0 ? widths.a[brick] : widths.b[brick];
      for (int plane = 0; plane < 16; ++plane) {
        matrices.word[16 * half + plane][brick] =
            plane < width ? load<std::uint32_t>(in + 4 * plane) : 0;
      }
      in += 4 * width;
    }
  }
}

void store_planes_joint(const BrickMatrices& matrices, const Widths& widths, std::uint32_t bricks,
                        std::byte* joint, std::byte* single) {
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    for (int plane = 0; plane < kBrickWords; ++plane) {
      store(joint + 4 * plane, matrices.word[plane][brick]);
    }
    joint += 4 * std::min(widths.a[brick], widths.b[brick]);
  }
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    const int a = widths.a[brick], b = widths.b[brick];
    const int shift = a > b ? 0 : 16;
    for (int plane = std::min(a, b); plane < std::max(a, b); ++plane, single += 2) {
      store(single, static_cast<std::uint16_t>(matrices.word[plane][brick] >> shift));
    }
  }
}

void load_planes_joint(const std::byte* joint, const std::byte* single, const Widths& widths,
                       std::uint32_t bricks, BrickMatrices& matrices) {
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    const int a = widths.a[brick], b = widths.b[brick];
    const int shift = a > b ? 0 : 16;
    int plane = 0;
    for (; plane < std::min(a, b); ++plane, joint += 4) {
      matrices.word[plane][brick] = load<std::uint32_t>(joint);
    }
    for (; plane < std::max(a, b); ++plane, single += 2) {
      matrices.word[plane][brick] = std::uint32_t{load<std::uint16_t>(single)} << shift;
    }
    for (; plane < kBrickWords; ++plane) matrices.word[plane][brick] = 0;
  }
}

}  // namespace

template <typename Word>
std::uint64_t encode_values(const std::byte* source, const ChunkBox& box, int tuple,
                            std::byte* out) {
  BrickMatrices matrices;
  Widths widths;
  make_planes<Word>(source, box, tuple, matrices, widths);
  const std::uint32_t bricks = bricks_of<Word>(box);
  const PlaneBytes bytes = plane_bytes<Word>(widths, bricks);
  if (bytes.joint + bytes.single == 0) return 0;
  store_widths(widths, bricks, out);
  std::byte* const joint = out + width_bytes(bricks);
  std::byte* const single = joint + bytes.joint;
  if constexpr (sizeof(Word) == 2) {
    store_planes_apart(matrices, widths, bricks, joint);
  } else {
    store_planes_joint(matrices, widths, bricks, joint, single);
  }
  const std::uint64_t size = width_bytes(bricks) + bytes.joint + bytes.single;
  std::fill(out + size, out + whole_words(size), std::byte{0});
  return whole_words(size);
}

template <typename Word>
Status decode_values(ByteView encoded, const ChunkBox& box, int tuple, std::byte* out) {
  if (encoded.empty()) {
    std::fill_n(out, std::size_t{box.x} * box.y * box.z * sizeof(Word), std::byte{0});
    return {};
  }
  const std::uint32_t bricks = bricks_of<Word>(box);
  if (encoded.size() < width_bytes(bricks)) {
    return {StatusCode::kDamaged, "lorenzo: shorter than its widths"};
  }
  Widths widths;
  load_widths(encoded.data(), bricks, widths);
  for (std::uint32_t brick = 0; brick < bricks; ++brick) {
    if (std::max(widths.a[brick], widths.b[brick]) > kMostPlanes<Word>) {
      return {StatusCode::kDamaged, "lorenzo: more planes than values have bits"};
    }
  }
  const PlaneBytes bytes = plane_bytes<Word>(widths, bricks);
  if (encoded.size() != whole_words(width_bytes(bricks) + bytes.joint + bytes.single)) {
    return {StatusCode::kDamaged, "lorenzo: its length is not what its widths say"};
  }
  const std::byte* const joint = encoded.data() + width_bytes(bricks);
  BrickMatrices matrices;
  for (auto& row : matrices.word) {
    std::fill(row + bricks, row + BrickMatrices::kColumns, 0u);
  }
  if constexpr (sizeof(Word) == 2) {
    load_planes_apart(joint, widths, bricks, matrices);
  } else {
    load_planes_joint(joint, joint + bytes.joint, widths, bricks, matrices);
  }
  restore_values<Word>(matrices, box, tuple, out);
  return {};
}

template std::uint64_t encode_values<std::uint16_t>(const std::byte*, const ChunkBox&, int,
                                                    std::byte*);
template std::uint64_t encode_values<std::uint32_t>(const std::byte*, const ChunkBox&, int,
                                                    std::byte*);
template std::uint64_t encode_values<std::uint64_t>(const std::byte*, const ChunkBox&, int,
                                                    std::byte*);
template Status decode_values<std::uint16_t>(ByteView, const ChunkBox&, int, std::byte*);
template Status decode_values<std::uint32_t>(ByteView, const ChunkBox&, int, std::byte*);
template Status decode_values<std::uint64_t>(ByteView, const ChunkBox&, int, std::byte*);

}  // namespace thinwire::codec::lorenzo
