#include "message/holed.h"

#include "message/missing.h"

namespace thinwire::message {

Result<std::uint64_t> encode_holed(const Coder& coder, const codec::Chunk& chunk,
                                   const std::byte* source, const Holes& holes, std::byte* out) {
  const auto fastest = static_cast<std::size_t>(chunk.shape.rank - 1);
  const Holed values{source, chunk.shape.count(), chunk.shape.extent[fastest], chunk.dtype,
                     holes.fill};
  const std::uint64_t missing = count_missing(values);
  const std::uint64_t mask = write_mask(values, missing, out);
  if (missing == values.count) return mask;
  if (missing != 0) close_holes(values, holes.room);
  auto coded =
      coder.codec->encode(missing != 0 ? holes.room : source, chunk, coder.parameter, out + mask);
  if (!coded.ok()) return coded;
  return mask + *coded;
}

Status decode_holed(const Info& info, const codec::Chunk& chunk, ByteView encoded,
                    std::byte* values) {
  const auto mask = read_mask(encoded, chunk.shape.count());
  if (!mask.ok()) return mask.status();
  const ByteView rest = encoded.subspan(mask->bytes());
  if (mask->kind == Mask::Kind::kAll) {
    if (!rest.empty()) return {StatusCode::kDamaged, "a chunk without values has a payload"};
  } else {
    Status status = info.codec->decode(rest, chunk, info.header.parameter, values);
    if (!status.ok()) return status;
  }
  store_missing(*mask, chunk.dtype, info.header.fill, values);
  return {};
}

}  // namespace thinwire::message
