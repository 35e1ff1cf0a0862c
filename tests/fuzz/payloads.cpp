#include "fuzz/payloads.h"

#include <cstring>
#include <type_traits>

#include "base/checksum.h"
#include "codec/ans_plain.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::fuzz {
namespace {

// Encodes a chunk of version 0, as the plain encoder of the tests of ans does.
template <typename Word>
Bytes older_ans(const Bytes& source, std::uint64_t tuple) {
  std::vector<Word> values(source.size() / sizeof(Word));
  std::memcpy(values.data(), source.data(), source.size());
  return codec::testing::ans_parts(values, tuple).payload();
}

Bytes older_payload(const codec::Codec& codec, Dtype dtype, std::uint64_t parameter,
                    const Bytes& source) {
  THINWIRE_FUZZ_CHECK(&codec == codec::find_codec(codec::kAns.id));
  switch (dtype_size(dtype)) {
    case 8:
      return older_ans<std::uint64_t>(source, parameter);
    case 4:
      return older_ans<std::uint32_t>(source, parameter);
    case 2:
      return older_ans<std::uint16_t>(source, parameter);
    default:
      return older_ans<std::uint8_t>(source, parameter);
  }
}

}  // namespace

std::uint64_t newest_parameter(const codec::Codec& codec, std::uint64_t parameter) {
  if (codec.older_versions == 0) return parameter;
  const auto spec = codec::parse_spec(codec.name + (":" + codec.describe(parameter)));
  THINWIRE_FUZZ_CHECK(spec.ok());
  return spec->parameter;
}

bool is_older(const codec::Codec& codec, std::uint64_t parameter) {
  return newest_parameter(codec, parameter) != parameter;
}

std::vector<Bytes> encode_chunks(const Recipe& recipe, ByteView values) {
  const codec::Codec* codec = recipe.coder.codec;
  const std::uint64_t parameter = recipe.coder.parameter;
  const codec::Layout layout = codec::make_layout(*codec, parameter, recipe.array);
  std::vector<Bytes> payloads;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const codec::Chunk chunk = layout.chunk(index);
    Bytes source(chunk.raw_bytes());
    if (layout.in_boxes) {
      codec::gather(values.data(), layout.box(index), dtype_size(chunk.dtype), source.data());
    } else {
      std::memcpy(source.data(), values.data() + layout.raw_offset(index), source.size());
    }
    if (is_older(*codec, parameter)) {
      payloads.push_back(older_payload(*codec, chunk.dtype, parameter, source));
      continue;
    }
    Bytes payload(codec->bound(chunk, parameter));
    const auto bytes = codec->encode(source.data(), chunk, parameter, payload.data());
    if (!bytes.ok()) return {};
    payload.resize(*bytes);
    payloads.push_back(std::move(payload));
  }
  return payloads;
}

bool is_holed(const Recipe& recipe) {
  const codec::Codec& codec = *recipe.coder.codec;
  return !codec.lossless && !codec.gpu_only && (recipe.flags & kHoled) != 0;
}

// A frame of exactly these payloads, all its checksums right.
Bytes seal_frame(const Recipe& recipe, const std::vector<Bytes>& payloads) {
  const bool checksums = (recipe.flags & kNoChecksums) == 0;
  Bytes table, body;
  for (const Bytes& payload : payloads) {
    auto row = static_cast<std::uint32_t>(payload.size());
    if ((recipe.flags & kRawChunks) != 0) row |= codec::kRawChunk;
    const auto sum = checksums ? static_cast<std::uint32_t>(checksum(payload)) : 0u;
    table.resize(table.size() + codec::kTableRowBytes);
    store(table.data() + table.size() - 8, row);
    store(table.data() + table.size() - 4, sum);
    body.insert(body.end(), payload.begin(), payload.end());
  }
  frame::Header header;
  header.codec = recipe.coder.codec->id;
  header.codec_version = recipe.coder.codec->version;
  header.dtype = recipe.array.dtype;
  header.chunk_checksums = checksums;
  header.shape = recipe.array.shape;
  header.parameter = recipe.coder.parameter;
  header.body_bytes = table.size() + body.size();
  if (is_holed(recipe)) {
    header.version = frame::kFillsVersion;
    header.has_fill = true;
    header.fill = 0x3F80;
  }
  Bytes sealed(header.header_bytes());
  frame::pack(header, frame::file_mark(), sealed.data());
  sealed.insert(sealed.end(), table.begin(), table.end());
  sealed.insert(sealed.end(), body.begin(), body.end());
  return sealed;
}

}  // namespace thinwire::fuzz
