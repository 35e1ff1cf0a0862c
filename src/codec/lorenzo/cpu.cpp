#include <algorithm>
#include <charconv>

#include "codec/lorenzo/bricks.h"
#include "codec/lorenzo/lorenzo.h"

namespace thinwire::codec {
namespace {

using namespace lorenzo;

// Planes are copied without asking how many there are, then as many are kept as there are.
constexpr std::uint64_t kSlackBytes = kBrickWords * sizeof(std::uint32_t);

template <typename Word>
std::uint32_t bricks_of(const ChunkBox& box) {
  return brick_grid<Word>(box.dimension, box.x, box.y, box.z).count();
}

std::uint64_t whole_words(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

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

// 16-bit values: the planes of A, and of B behind them.
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

// ---- One chunk ----

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

// ---- The row of the registry ----

Status invalid() {
  return {StatusCode::kInvalidArgument, "lorenzo takes tuple=<values of a point>, 1 to 3"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t tuple = 1;
  for (const Option& option : options) {
    const char* end = option.value.data() + option.value.size();
    const auto [at, error] = std::from_chars(option.value.data(), end, tuple);
    if (option.key != "tuple" || error != std::errc() || at != end) return invalid();
  }
  if (tuple < 1 || tuple > kMaxTuple) return invalid();
  return tuple;
}

std::string describe(std::uint64_t parameter) { return "tuple=" + std::to_string(parameter); }

Status check(std::uint64_t parameter, Dtype, int) {
  if (parameter >= 1 && parameter <= kMaxTuple) return {};
  return {StatusCode::kDamaged, "lorenzo: the parameter is no tuple"};
}

Shape chunk_shape(const Shape& shape, Dtype dtype, std::uint64_t) {
  const std::uint64_t row = kRowPieces * kPieceBytes / dtype_size(dtype);
  int slower = 0;
  for (int axis = 0; axis + 1 < shape.rank; ++axis) {
    slower += shape.extent[static_cast<std::size_t>(axis)] > 1;
  }
  Shape box{.rank = shape.rank, .extent = {}};
  for (int axis = shape.rank - 1, rows = 0; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    if (axis == shape.rank - 1) {
      box.extent[at] = slower == 0 ? kBoxBytes / dtype_size(dtype) : row;
    } else if (shape.extent[at] == 1) {
      box.extent[at] = 1;
    } else if (slower == 1) {
      box.extent[at] = kBox2Rows;
    } else {
      box.extent[at] = rows++ == 0 ? kBox3Rows : kBox3Planes;
    }
  }
  return box;
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  // As many bricks as a chunk of this many values, however clipped, can touch.
  const ChunkBox box(chunk.shape);
  const std::uint32_t bricks = chunk.dtype == Dtype::kF32   ? bricks_of<std::uint32_t>(box)
                               : chunk.dtype == Dtype::kF64 ? bricks_of<std::uint64_t>(box)
                                                            : bricks_of<std::uint16_t>(box);
  return whole_words(width_bytes(bricks) + std::uint64_t{bricks} * kBrickWords * 4) + kSlackBytes;
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const ChunkBox box(chunk.shape);
  const int tuple = static_cast<int>(parameter);
  if (chunk.dtype == Dtype::kF32) return encode_values<std::uint32_t>(source, box, tuple, out);
  if (chunk.dtype == Dtype::kF64) return encode_values<std::uint64_t>(source, box, tuple, out);
  return encode_values<std::uint16_t>(source, box, tuple, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const ChunkBox box(chunk.shape);
  const int tuple = static_cast<int>(parameter);
  if (chunk.dtype == Dtype::kF32) return decode_values<std::uint32_t>(encoded, box, tuple, out);
  if (chunk.dtype == Dtype::kF64) return decode_values<std::uint64_t>(encoded, box, tuple, out);
  return decode_values<std::uint16_t>(encoded, box, tuple, out);
}

}  // namespace

const Codec kLorenzo = {
    .id = 4,
    .name = "lorenzo",
    .summary = "lossless for fields: Lorenzo residuals in bit planes",
    .options = "tuple=<values of a point>",
    .example = "lorenzo:tuple=1",
    .version = 0,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64) | dtype_bit(Dtype::kF16) |
              dtype_bit(Dtype::kBf16),
    .max_rank = 3,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kLorenzoDevice,
#endif
};

}  // namespace thinwire::codec
