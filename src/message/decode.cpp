#include "base/checksum.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "message/message.h"

namespace thinwire::message {
namespace {

Status damaged(std::uint64_t chunk, const char* what) {
  return {StatusCode::kDamaged, "chunk " + std::to_string(chunk) + ": " + what};
}

Status decode_chunk(const Info& info, const codec::Chunk& chunk, std::uint32_t row,
                    ByteView encoded, std::byte* out) {
  if ((row & codec::kRawChunk) == 0) {
    return info.codec->decode(encoded, chunk, info.header.parameter, out);
  }
  if (info.codec->fixed_size || encoded.size() != chunk.raw_bytes()) {
    return {StatusCode::kDamaged, "a raw chunk of the wrong length"};
  }
  std::memcpy(out, encoded.data(), encoded.size());
  return {};
}

Status decode_body(const Info& info, ByteView body, std::byte* destination) {
  const codec::Chunk array{info.header.dtype, info.header.shape};
  const codec::Layout layout = codec::make_layout(*info.codec, info.header.parameter, array);
  if (layout.chunks > body.size() / codec::kTableRowBytes) {
    return {StatusCode::kDamaged, "the frame is too short for its chunk table"};
  }
  const std::byte* const table = body.data();
  ByteView rest = body.subspan(layout.table_bytes());
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const auto row = load<std::uint32_t>(table + index * codec::kTableRowBytes);
    const auto sum = load<std::uint32_t>(table + index * codec::kTableRowBytes + 4);
    const std::uint64_t bytes = row & ~codec::kRawChunk;
    if (bytes > rest.size()) return damaged(index, "reaches past the end of the frame");
    const ByteView encoded = rest.first(bytes);
    if (info.header.chunk_checksums && static_cast<std::uint32_t>(checksum(encoded)) != sum) {
      return damaged(index, "checksum mismatch");
    }
    Status status = decode_chunk(info, layout.chunk(index), row, encoded,
                                 destination + layout.raw_offset(index));
    if (!status.ok()) return status;
    rest = rest.subspan(bytes);
  }
  if (!rest.empty()) return {StatusCode::kDamaged, "bytes are left behind the last chunk"};
  return {};
}

}  // namespace

Result<Info> inspect(ByteView source, const frame::Mark& mark) {
  auto header = frame::unpack(source, mark);
  if (!header.ok()) return header.status();
  const codec::Codec* codec = codec::find_codec(header->codec);
  if (codec == nullptr) {
    return {StatusCode::kUnsupported,
            "this build has no codec with id " + std::to_string(header->codec)};
  }
  if (codec->version != header->codec_version) {
    return {StatusCode::kVersion,
            std::string(codec->name) + " format version " + std::to_string(header->codec_version) +
                ", this build reads version " + std::to_string(codec->version)};
  }
  if (!codec->takes(header->dtype) || header->shape.rank > codec->max_rank) {
    return {StatusCode::kDamaged, std::string(codec->name) + " does not code such arrays"};
  }
  Status status = codec->check(header->parameter, header->dtype, header->shape.rank);
  if (!status.ok()) return status;
  return Info{*header, codec};
}

Result<Info> decode(ByteView source, MutableByteView destination, const frame::Mark& mark) {
  auto info = inspect(source, mark);
  if (!info.ok()) return info;
  if (info->header.raw_bytes() > destination.size()) {
    return {StatusCode::kTooSmall, "the message has " + std::to_string(info->header.raw_bytes()) +
                                       " bytes, the destination " +
                                       std::to_string(destination.size())};
  }
  const ByteView body = source.subspan(info->header.header_bytes(), info->header.body_bytes);
  if (Status status = decode_body(*info, body, destination.data()); !status.ok()) return status;
  return info;
}

}  // namespace thinwire::message
