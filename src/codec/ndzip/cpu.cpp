// Codec 6: ndzip, lossless. See spec/codec-ndzip.md.
#include <algorithm>
#include <bit>

#include "codec/codec.h"
#include "codec/ndzip/core.h"
#include "codec/registry.h"
#include "codec/word.h"

namespace thinwire::codec {
namespace {

using namespace ndzip;

// A group's worth beyond a box: the last group is filled up.
template <typename Word>
struct Words {
  alignas(64) Word word[kBoxValues + kWordBits<Word>];
};

// ---- Along the axes ----

// Calls step(words of one layer, words of the layer before it, how many) for every two neighbouring
// layers across every axis, from the far end if `backward`.
template <typename Word, typename Step>
void for_each_layer(Word* words, const Shape& shape, bool backward, Step&& step) {
  const std::uint64_t values = shape.count();
  std::uint64_t layer = 1;  // values of one
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    const std::uint64_t extent = shape.extent[axis];
    for (std::uint64_t begin = 0; begin < values; begin += extent * layer) {
      for (std::uint64_t at = 1; at < extent; ++at) {
        Word* const own = words + begin + (backward ? extent - at : at) * layer;
        step(own, own - layer, layer);
      }
    }
    layer *= extent;
  }
}

template <typename Word>
void subtract_neighbours(Word* words, const Shape& shape) {
  for_each_layer(words, shape, true, [](Word* own, const Word* before, std::uint64_t count) {
    for (std::uint64_t at = 0; at < count; ++at) own[at] -= before[at];
  });
}

template <typename Word>
void add_up(Word* words, const Shape& shape) {
  for_each_layer(words, shape, false, [](Word* own, const Word* before, std::uint64_t count) {
    for (std::uint64_t at = 0; at < count; ++at) own[at] += before[at];
  });
}

// ---- Groups ----

void transpose_group(std::uint32_t* group) {
  std::uint32_t words[32];
  std::copy(group, group + 32, words);
  transpose_bits(words);
  std::copy(words, words + 32, group);
}

// As four squares, of which the two off the diagonal change places.
void transpose_group(std::uint64_t* group) {
  std::uint32_t square[2][2][32];
  for (int at = 0; at < 64; ++at) {
    square[at / 32][0][at % 32] = static_cast<std::uint32_t>(group[at]);
    square[at / 32][1][at % 32] = static_cast<std::uint32_t>(group[at] >> 32);
  }
  for (auto& row : square) {
    for (auto& words : row) transpose_bits(words);
  }
  for (int at = 0; at < 64; ++at) {
    group[at] =
        square[0][at / 32][at % 32] | static_cast<std::uint64_t>(square[1][at / 32][at % 32]) << 32;
  }
}

// ---- One box ----

template <typename Word>
std::uint64_t encode_box(const std::byte* source, const Shape& shape, std::byte* out) {
  const auto values = static_cast<std::uint32_t>(shape.count());
  const std::uint32_t groups = groups_of<Word>(values);
  Words<Word> box;
  std::memcpy(box.word, source, values * sizeof(Word));
  for (std::uint32_t at = 0; at < values; ++at) box.word[at] = sign_to_low(box.word[at]);
  subtract_neighbours(box.word, shape);
  for (std::uint32_t at = 0; at < values; ++at) box.word[at] = flip(box.word[at]);
  std::fill(box.word + values, box.word + groups * kWordBits<Word>, Word{0});

  std::byte* next = out + groups * sizeof(Word);
  for (std::uint32_t group = 0; group < groups; ++group) {
    Word* const words = box.word + group * kWordBits<Word>;
    Word head = 0;
    for (int at = 0; at < kWordBits<Word>; ++at) head |= words[at];
    transpose_group(words);
    store(out + group * sizeof(Word), head);
    for (Word left = head; left != 0; left &= left - 1) {
      store(next, words[std::countr_zero(left)]);
      next += sizeof(Word);
    }
  }
  for (; (next - out) % 8 != 0; ++next) *next = std::byte{0};
  return static_cast<std::uint64_t>(next - out);
}

// Whether a payload has the length that its heads say.
template <typename Word>
bool is_whole(ByteView encoded, std::uint32_t groups) {
  if (encoded.size() < groups * sizeof(Word)) return false;
  std::uint32_t words = groups;
  for (std::uint32_t group = 0; group < groups; ++group) {
    words += static_cast<std::uint32_t>(
        std::popcount(load<Word>(encoded.data() + group * sizeof(Word))));
  }
  return encoded.size() == payload_bytes<Word>(words);
}

template <typename Word>
Status decode_box(ByteView encoded, const Shape& shape, std::byte* out) {
  const auto values = static_cast<std::uint32_t>(shape.count());
  const std::uint32_t groups = groups_of<Word>(values);
  if (!is_whole<Word>(encoded, groups)) {
    return {StatusCode::kDamaged, "ndzip: its length is not what its heads say"};
  }
  Words<Word> box;
  const std::byte* next = encoded.data() + groups * sizeof(Word);
  for (std::uint32_t group = 0; group < groups; ++group) {
    Word* const words = box.word + group * kWordBits<Word>;
    std::fill(words, words + kWordBits<Word>, Word{0});
    for (Word left = load<Word>(encoded.data() + group * sizeof(Word)); left != 0;
         left &= left - 1) {
      words[std::countr_zero(left)] = load<Word>(next);
      next += sizeof(Word);
    }
    transpose_group(words);
  }
  for (std::uint32_t at = 0; at < values; ++at) box.word[at] = flip(box.word[at]);
  add_up(box.word, shape);
  for (std::uint32_t at = 0; at < values; ++at) box.word[at] = sign_to_high(box.word[at]);
  std::memcpy(out, box.word, values * sizeof(Word));
  return {};
}

// ---- The row of the registry ----

Shape chunk_shape(const Shape& shape, Dtype, std::uint64_t) {
  const int axes = real_axes(shape);
  Shape box = shape;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const bool is_real = shape.extent[axis] > 1 || (axes == 0 && axis == shape.rank - 1);
    box.extent[axis] = is_real ? box_extent(axes) : 1;
  }
  return box;
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  const std::uint64_t bits = 8 * dtype_size(chunk.dtype);
  const std::uint64_t words = ceil_div(chunk.shape.count(), bits) * (bits + 1);
  return ceil_div(words * dtype_size(chunk.dtype), 8) * 8;
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t,
                             std::byte* out) {
  return chunk.dtype == Dtype::kF32 ? encode_box<std::uint32_t>(source, chunk.shape, out)
                                    : encode_box<std::uint64_t>(source, chunk.shape, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t, std::byte* out) {
  return chunk.dtype == Dtype::kF32 ? decode_box<std::uint32_t>(encoded, chunk.shape, out)
                                    : decode_box<std::uint64_t>(encoded, chunk.shape, out);
}

}  // namespace

const Codec kNdzip = {
    .id = 6,
    .name = "ndzip",
    .summary = "ndzip: lossless for fields of 1 to 3 dimensions, by differences along each",
    .options = "",
    .example = "ndzip",
    .version = 0,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = ndzip::kMaxRank,
    .parse = NoOptions<kNdzip>::parse,
    .describe = NoOptions<kNdzip>::describe,
    .check = NoOptions<kNdzip>::check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kNdzipDevice,
#endif
};

}  // namespace thinwire::codec
