// Codec 13: ans, lossless. See spec/codec-ans.md.
#include "base/parse.h"
#include "codec/ans/format.h"
#include "codec/ans/payload.h"
#include "codec/ans/pieces.h"
#include "codec/ans/planes.h"
#include "codec/ans/v0_format.h"
#include "codec/ans/v0_payload.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace ans;

Status invalid() {
  return {StatusCode::kInvalidArgument,
          "ans takes tuple=<values of a point>, 0 (values themselves) to 32"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t tuple = 1;
  for (const Option& option : options) {
    const auto number = parse_whole_number(option.value);
    if (option.key != "tuple" || !number) return invalid();
    tuple = *number;
  }
  if (tuple > kMaxTuple) return invalid();
  return kInPieces | tuple;
}

bool is_in_pieces(std::uint64_t parameter) { return (parameter & kInPieces) != 0; }

std::uint32_t tuple_of(std::uint64_t parameter) {
  return static_cast<std::uint32_t>(parameter & ~kInPieces);
}

std::string describe(std::uint64_t parameter) {
  return "tuple=" + std::to_string(tuple_of(parameter));
}

Status check(std::uint64_t parameter, Dtype, int) {
  if ((parameter & ~kInPieces) <= kMaxTuple) return {};
  return {StatusCode::kDamaged, "ans: the parameter is no tuple"};
}

// Returns visit(a word of the dtype's size).
template <typename Visit>
auto with_word(Dtype dtype, Visit&& visit) {
  switch (dtype_size(dtype)) {
    case 8:
      return visit(std::uint64_t{});
    case 4:
      return visit(std::uint32_t{});
    case 2:
      return visit(std::uint16_t{});
    default:
      return visit(std::uint8_t{});
  }
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  return chunk.raw_bytes() + kMostFrontBytes + 8 * kPieces;
}

Shape chunk_shape(const Shape&, Dtype dtype, std::uint64_t parameter) {
  return with_word(dtype, [&]<typename Word>(Word) {
    return Shape::line(is_in_pieces(parameter) ? kChunkValues<Word> : v0::kChunkValues<Word>);
  });
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  if (!is_in_pieces(parameter)) {
    return Status{StatusCode::kInvalidArgument, "ans: version 0 of its format is decoded alone"};
  }
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  return with_word(chunk.dtype, [&]<typename Word>(Word) {
    return encode_pieces<Word>(source, values, tuple_of(parameter), out);
  });
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  return with_word(chunk.dtype, [&]<typename Word>(Word) {
    if (is_in_pieces(parameter)) {
      return decode_pieces<Word>(encoded, values, tuple_of(parameter), out);
    }
    return v0::decode_values<Word>(encoded, values, tuple_of(parameter), out);
  });
}

}  // namespace

const Codec kAns = {
    .id = 13,
    .name = "ans",
    .summary = "lossless for any data: planes of bytes by their frequencies; smaller and slower",
    .options = "tuple=<values of a point>",
    .example = "ans:tuple=1",
    .version = 2,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64) | dtype_bit(Dtype::kF16) |
              dtype_bit(Dtype::kBf16) | dtype_bit(Dtype::kE4m3) | dtype_bit(Dtype::kE5m2),
    .max_rank = kMaxRank,
    .flat = true,
    .older_versions = 2,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .place_in_auto = {0, 4, 3, 3, 3, 2, 2},
    .slow = true,
    .strides = {.key = "tuple", .most = kMaxTuple, .has_none = true},
#ifdef THINWIRE_CUDA
    .device = &kAnsDevice,
#endif
};

}  // namespace thinwire::codec
