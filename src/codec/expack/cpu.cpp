// Codec 3: expack, lossless. See spec/codec-expack.md.
#include "codec/expack/chunk.h"
#include "codec/expack/core.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

constexpr const char* kModeNames[] = {"auto", "fixed", "entropy"};

Status invalid() {
  return {StatusCode::kInvalidArgument, "expack takes mode=auto, mode=fixed or mode=entropy"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t mode = 0;
  for (const Option& option : options) {
    if (option.key != "mode") return invalid();
    for (mode = 0; mode < expack::kModes && option.value != kModeNames[mode];) ++mode;
    if (mode == expack::kModes) return invalid();
  }
  return mode;
}

std::string describe(std::uint64_t parameter) {
  return std::string("mode=") + kModeNames[parameter];
}

Status check(std::uint64_t parameter, Dtype, int) {
  if (parameter < expack::kModes) return {};
  return {StatusCode::kDamaged, "expack: the parameter is no mode"};
}

Shape chunk_shape(const Shape& shape, Dtype dtype, std::uint64_t) {
  const std::uint64_t value_bytes = dtype_size(dtype);
  const bool is_small = expack::has_small_chunks(shape.count(), value_bytes);
  return Shape::line(expack::chunk_bytes(is_small, value_bytes) / value_bytes);
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) { return chunk.raw_bytes(); }

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  return expack::encode_chunk(source, chunk, parameter, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t, std::byte* out) {
  return expack::decode_chunk(encoded, chunk, out);
}

}  // namespace

const Codec kExpack = {
    .id = 3,
    .name = "expack",
    .summary = "lossless for training data: exponents in short codes, zeros in a bit",
    .options = "mode=<auto|fixed|entropy>",
    .example = "expack:mode=auto",
    .version = 1,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF16) | dtype_bit(Dtype::kBf16) |
              dtype_bit(Dtype::kE4m3) | dtype_bit(Dtype::kE5m2),
    .max_rank = kMaxRank,
    .flat = true,
    .older_versions = 1,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .place_in_auto = {0, 2, 0, 1, 1, 1, 1},
#ifdef THINWIRE_CUDA
    .device = &kExpackDevice,
#endif
};

}  // namespace thinwire::codec
