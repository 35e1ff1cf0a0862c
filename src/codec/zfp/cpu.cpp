// Codec 1: ZFP fixed rate, byte-identical to libzfp. See spec/codec-zfp.md.
#include <cmath>

#include "base/parse.h"
#include "codec/registry.h"
#include "codec/zfp/blocks.h"
#include "codec/zfp/line.h"
#include "codec/zfp/sizes.h"

namespace thinwire::codec {
namespace {

using namespace zfp;

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

// The word is the rate in 64ths of a bit per value.
Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t parameter = 0;
  for (const Option& option : options) {
    if (option.key != "rate") {
      return invalid("zfp: unknown option '" + std::string(option.key) +
                     "'; it takes rate=<bits per value>");
    }
    const auto rate = parse_number(option.value);
    if (!rate.ok()) return invalid("zfp: rate: " + rate.status().message());
    const double steps = std::floor(*rate * kRateSteps + 0.5);
    if (!(steps >= 1 && steps <= kMaxParameter)) {
      return invalid("zfp: rate=" + std::string(option.value) +
                     " is not between 1/64 and 64 bits per value");
    }
    parameter = static_cast<std::uint64_t>(steps);
  }
  if (parameter == 0) return invalid("zfp: rate=<bits per value> is missing, as in zfp:rate=16");
  return parameter;
}

std::string describe(std::uint64_t parameter) {
  std::string text = "rate=" + std::to_string(parameter / kRateSteps);
  if (parameter % kRateSteps == 0) return text;
  // A 64th is 0.015625: six digits are exact.
  std::string digits = std::to_string(1000000 + parameter % kRateSteps * 15625);
  digits.front() = '.';
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + digits;
}

Status check(std::uint64_t parameter, Dtype dtype, int rank) {
  if (dtype != Dtype::kF32 && dtype != Dtype::kF64) {
    return {StatusCode::kUnsupported, std::string("zfp: no coding for ") + dtype_name(dtype)};
  }
  if (rank < 1 || rank > kMaxRank) {
    return {StatusCode::kUnsupported, "zfp: only arrays of rank 1 to 3"};
  }
  if (parameter < 1 || parameter > kMaxParameter) {
    return {StatusCode::kDamaged, "zfp: the parameter is not a rate of 1/64 to 64"};
  }
  if (wanted_block_bits(parameter, rank) > max_block_bits(dtype, rank)) {
    return {StatusCode::kDamaged,
            "zfp: " + describe(parameter) + " is more than the bits of an " + dtype_name(dtype)};
  }
  return {};
}

Shape chunk_shape(const Shape& shape, Dtype dtype, std::uint64_t parameter) {
  Shape planes = shape;
  planes.extent[0] = chunk_planes(shape, dtype, parameter);
  return planes;
}

int bits_of(const Chunk& chunk, std::uint64_t parameter) {
  return block_bits(parameter, chunk.dtype, chunk.shape.rank);
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t parameter) {
  return encoded_bytes(make_grid(chunk.shape).blocks(), bits_of(chunk, parameter));
}

bool is_float_line(const Chunk& chunk) {
  return chunk.dtype == Dtype::kF32 && chunk.shape.rank == 1;
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const int bits = bits_of(chunk, parameter);
  const bool finite = is_float_line(chunk)
                          ? encode_line(source, chunk.shape.count(), bits, out)
                          : encode_blocks(source, chunk.dtype, chunk.shape, bits, out);
  if (!finite) return {StatusCode::kDeclined, "zfp: a value is NaN or infinite"};
  return bound(chunk, parameter);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  if (encoded.size() != bound(chunk, parameter)) {
    return {StatusCode::kDamaged, "zfp: the chunk has another length than its shape and rate give"};
  }
  const int bits = bits_of(chunk, parameter);
  if (is_float_line(chunk)) {
    decode_line(encoded.data(), chunk.shape.count(), bits, out);
  } else {
    decode_blocks(encoded.data(), chunk.dtype, chunk.shape, bits, out);
  }
  return {};
}

}  // namespace

const Codec kZfp = {
    .id = 1,
    .name = "zfp",
    .summary = "ZFP at a fixed rate: lossy, byte-identical to libzfp",
    .options = "rate=<bits per value>",
    .example = "zfp:rate=16",
    .version = 0,
    .lossless = false,
    .fixed_size = true,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = kMaxRank,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kZfpDevice,
#endif
};

}  // namespace thinwire::codec
