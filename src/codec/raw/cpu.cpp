// Codec 0: the bytes themselves. See spec/codec-raw.md.
#include "codec/codec.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

constexpr std::uint64_t kChunkBytes = 1 << 20;

Shape chunk_shape(const Shape& shape, Dtype dtype, std::uint64_t) {
  Shape planes = shape;
  planes.extent[0] = 1;
  const std::uint64_t plane_bytes = planes.count() * dtype_size(dtype);
  planes.extent[0] = plane_bytes >= kChunkBytes ? 1 : kChunkBytes / plane_bytes;
  return planes;
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) { return chunk.raw_bytes(); }

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t,
                             std::byte* out) {
  std::memcpy(out, source, chunk.raw_bytes());
  return chunk.raw_bytes();
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t, std::byte* out) {
  if (encoded.size() != chunk.raw_bytes()) {
    return {StatusCode::kDamaged, "raw: the chunk has another length than its array"};
  }
  std::memcpy(out, encoded.data(), encoded.size());
  return {};
}

}  // namespace

const Codec kRaw = {
    .id = 0,
    .name = "raw",
    .summary = "the bytes themselves",
    .options = "",
    .example = "raw",
    .version = 0,
    .lossless = true,
    .fixed_size = true,
    .dtypes = (1u << kDtypeCount) - 1,
    .max_rank = kMaxRank,
    .parse = NoOptions<kRaw>::parse,
    .describe = NoOptions<kRaw>::describe,
    .check = NoOptions<kRaw>::check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kRawDevice,
#endif
};

}  // namespace thinwire::codec
