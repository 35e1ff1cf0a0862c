// Codec 2: MPC, lossless. See spec/codec-mpc.md.
#include <bit>

#include "base/parse.h"
#include "codec/mpc/core.h"
#include "codec/mpc/units.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace mpc;

// ---- One chunk ----

template <typename Word>
std::uint64_t encode_words(const std::byte* source, std::uint64_t values, int stride,
                           std::byte* out) {
  constexpr auto kEncode = sizeof(Word) == 4 ? encode_f32 : encode_f64;
  return static_cast<std::uint64_t>(
      kEncode(source, values, stride, out, out + bitmap_bytes<Word>(values)) - out);
}

template <typename Word>
Status decode_words(ByteView encoded, std::uint64_t values, int stride, std::byte* out) {
  constexpr auto kDecode = sizeof(Word) == 4 ? decode_f32 : decode_f64;
  const std::uint64_t bitmaps = bitmap_bytes<Word>(values);
  if (encoded.size() < bitmaps) return {StatusCode::kDamaged, "mpc: shorter than its bitmaps"};
  std::uint64_t present = 0;
  for (std::uint64_t at = 0; at < bitmaps; at += sizeof(Word)) {
    present += static_cast<std::uint64_t>(std::popcount(load<Word>(encoded.data() + at)));
  }
  if (encoded.size() != bitmaps + present * sizeof(Word)) {
    return {StatusCode::kDamaged, "mpc: its length is not what its bitmaps say"};
  }
  kDecode(encoded.data(), encoded.subspan(bitmaps), values, stride, out);
  return {};
}

// ---- The row of the registry ----

Status invalid() {
  return {StatusCode::kInvalidArgument, "mpc takes stride=<values in a tuple>, 1 to 32"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t stride = 1;
  for (const Option& option : options) {
    const auto number = parse_whole_number(option.value);
    if (option.key != "stride" || !number) return invalid();
    stride = *number;
  }
  if (stride < 1 || stride > kMaxStride) return invalid();
  return stride;
}

std::string describe(std::uint64_t parameter) { return "stride=" + std::to_string(parameter); }

Status check(std::uint64_t parameter, Dtype, int) {
  if (parameter >= 1 && parameter <= kMaxStride) return {};
  return {StatusCode::kDamaged, "mpc: the parameter is no stride"};
}

Shape chunk_shape(const Shape&, Dtype, std::uint64_t) { return Shape::line(kChunkValues); }

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  const std::uint64_t bits = 8 * dtype_size(chunk.dtype);
  const std::uint64_t words = ceil_div(chunk.shape.count(), bits) * bits;
  // One word more: the encoder writes before it knows whether to keep.
  return words / 8 + (words + 1) * dtype_size(chunk.dtype);
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const std::uint64_t values = chunk.shape.count();
  const int stride = static_cast<int>(parameter);
  return chunk.dtype == Dtype::kF32 ? encode_words<std::uint32_t>(source, values, stride, out)
                                    : encode_words<std::uint64_t>(source, values, stride, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const std::uint64_t values = chunk.shape.count();
  const int stride = static_cast<int>(parameter);
  return chunk.dtype == Dtype::kF32 ? decode_words<std::uint32_t>(encoded, values, stride, out)
                                    : decode_words<std::uint64_t>(encoded, values, stride, out);
}

}  // namespace

const Codec kMpc = {
    .id = 2,
    .name = "mpc",
    .summary = "MPC: lossless for fields and tuples, by differences and bit planes",
    .options = "stride=<values in a tuple>",
    .example = "mpc:stride=1",
    .version = 0,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = kMaxRank,
    .flat = true,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .place_in_auto = {0, 3, 2, 0, 0, 0, 0},
    .strides = {.key = "stride", .most = kMaxStride},
#ifdef THINWIRE_CUDA
    .device = &kMpcDevice,
#endif
};

}  // namespace thinwire::codec
