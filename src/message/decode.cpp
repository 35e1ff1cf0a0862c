#include <algorithm>
#include <vector>

#include "base/checksum.h"
#include "base/float_mode.h"
#include "base/wide_stack.h"
#include "codec/accumulate.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "message/allowed.h"
#include "message/gpu.h"
#include "message/holed.h"
#include "message/host.h"

namespace thinwire::message {
namespace {

// Memory to which a chunk's values are decoded before they are moved to their places; grows if
// chunks are runs of planes.
class Scratch {
 public:
  std::byte* of(std::uint64_t bytes) {
    if (bytes <= sizeof box_) return box_;
    if (bytes > large_.size()) large_.resize(bytes);
    return large_.data();
  }

 private:
  alignas(64) std::byte box_[codec::kMostBoxBytes];
  std::vector<std::byte> large_;
};

template <Dtype kDtype>
void add(const std::byte* values, std::uint64_t count, double scale, std::byte* out) {
  using Word = codec::WordOf<kDtype>;
  const auto factor = static_cast<codec::NumberOf<kDtype>>(scale);
  for (std::uint64_t at = 0; at < count; ++at) {
    std::byte* const place = out + at * sizeof(Word);
    store(place, codec::add_and_scale<kDtype>(load<Word>(place),
                                              load<Word>(values + at * sizeof(Word)), factor));
  }
}

// Not of bytes.
void add(Dtype dtype, const std::byte* values, std::uint64_t count, double scale, std::byte* out) {
  with_float_dtype(dtype, [&](auto kDtype) { add<kDtype>(values, count, scale, out); });
}

// Moves a chunk's values to their places.
void land(const codec::Layout& layout, std::uint64_t index, const codec::Accumulate& accumulate,
          const std::byte* values, std::byte* destination) {
  const Dtype dtype = layout.array.dtype;
  const std::uint64_t value_bytes = dtype_size(dtype);
  if (!accumulate.adds) {
    codec::scatter(values, layout.box(index), value_bytes, destination);
    return;
  }
  if (!layout.in_boxes) {
    add(dtype, values, layout.chunk(index).shape.count(), accumulate.scale,
        destination + layout.raw_offset(index));
    return;
  }
  const codec::Box box = layout.box(index);
  codec::for_each_row(box, value_bytes, [&](std::uint64_t at, std::uint64_t inside) {
    add(dtype, values + inside, box.x, accumulate.scale, destination + at);
  });
}

Status decode_body(const Info& info, ByteView body, const codec::Accumulate& accumulate,
                   std::byte* destination) {
  const codec::Layout layout = info.layout();
  const std::byte* const table = body.data();
  ByteView rest = body.subspan(layout.table_bytes());
  const bool in_place = !layout.in_boxes && !accumulate.adds;
  Scratch scratch;
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const TableRow row = read_row(table + index * codec::kTableRowBytes);
    if (row.bytes() > rest.size()) return damaged(index, "reaches past the end of the frame");
    std::byte* const values = in_place ? destination + layout.raw_offset(index)
                                       : scratch.of(layout.chunk(index).raw_bytes());
    Status status = decode_chunk(info, layout, index, row, rest.first(row.bytes()), values);
    if (!status.ok()) return status;
    if (!in_place) land(layout, index, accumulate, values, destination);
    rest = rest.subspan(row.bytes());
  }
  if (!rest.empty()) return {StatusCode::kDamaged, "bytes are left after the last chunk"};
  return {};
}

Result<Info> inspect_at(ByteView source, const device::Place& place, const frame::Mark& mark,
                        device::StreamHandle stream) {
  if (!place.on_device()) return find_coder(frame::unpack(source, mark), mark);
  auto start = read_start(source.data(), source.size(), place.device, stream);
  if (!start.ok()) return start.status();
  return find_coder(
      frame::unpack_start(ByteView(start->bytes).first(start->count), source.size(), mark), mark);
}

}  // namespace

Status damaged(std::uint64_t chunk, const char* what) {
  return {StatusCode::kDamaged, "chunk " + std::to_string(chunk) + ": " + what};
}

std::uint64_t most_payload_bytes(const Info& info, const codec::Chunk& chunk) {
  return has_fixed_payloads(info) ? info.codec->bound(chunk, info.header.parameter)
                                  : chunk.raw_bytes();
}

Status check_length(const Info& info, const codec::Chunk& chunk, std::uint64_t index,
                    const TableRow& row) {
  if (row.bytes() > most_payload_bytes(info, chunk)) {
    return damaged(index, "longer than a payload of such a chunk can be");
  }
  if (!row.raw()) return {};
  if (has_fixed_payloads(info) || row.bytes() != chunk.raw_bytes()) {
    return {StatusCode::kDamaged, "a raw chunk of the wrong length"};
  }
  return {};
}

Status decode_chunk(const Info& info, const codec::Layout& layout, std::uint64_t index,
                    const TableRow& row, ByteView encoded, std::byte* values) {
  const codec::Chunk chunk = layout.chunk(index);
  if (Status status = check_length(info, chunk, index, row); !status.ok()) return status;
  if (info.header.chunk_checksums && static_cast<std::uint32_t>(checksum(encoded)) != row.sum) {
    return damaged(index, "checksum mismatch");
  }
  if (!row.raw() && info.header.has_fill) return decode_holed(info, chunk, encoded, values);
  if (!row.raw()) return info.codec->decode(encoded, chunk, info.header.parameter, values);
  std::memcpy(values, encoded.data(), encoded.size());
  return {};
}

namespace {

// A header may claim any array: what its body cannot hold is refused before anybody makes room for
// the array.
Status check_claim(const Info& info) {
  const codec::Layout layout = info.layout();
  const std::uint64_t body = info.header.body_bytes;
  if (layout.chunks > body / codec::kTableRowBytes) {
    return {StatusCode::kDamaged, "the frame is too short for its chunk table"};
  }
  if (!has_fixed_payloads(info)) return {};
  std::uint64_t left = body - layout.table_bytes();
  bool fits = true;
  codec::for_each_chunk_shape(layout, [&](const Shape& shape, std::uint64_t count) {
    const std::uint64_t each = most_payload_bytes(info, {info.header.dtype, shape});
    fits = fits && count <= left / std::max<std::uint64_t>(each, 1);
    if (fits) left -= count * each;
  });
  if (fits) return {};
  return {StatusCode::kDamaged, "the frame is too short for its array"};
}

}  // namespace

Result<Info> find_coder(const Result<frame::Header>& header, const frame::Mark& mark) {
  if (!header.ok()) return header.status();
  const codec::Codec* codec = codec::find_codec(header->codec);
  if (codec == nullptr) {
    return {StatusCode::kUnsupported,
            "this build has no codec with id " + std::to_string(header->codec)};
  }
  const int age = codec->version - header->codec_version;
  if (age < 0 || age > codec->older_versions) {
    return {StatusCode::kVersion,
            std::string(codec->name) + " format version " + std::to_string(header->codec_version) +
                ", this build reads version " + std::to_string(codec->version)};
  }
  if (header->has_fill && (codec->lossless || codec->gpu_only || !is_added(header->dtype))) {
    return {StatusCode::kDamaged,
            std::string(codec->name) + " codes no arrays with missing values"};
  }
  const bool is_folded = header->shape.rank > codec->max_rank;
  if (!codec->takes(header->dtype) || (is_folded && header->version < frame::kCodedShapesVersion)) {
    return {StatusCode::kDamaged, std::string(codec->name) + " does not code such arrays"};
  }
  const int rank = codec::coded_shape(*codec, header->shape, header->as_line).rank;
  Status status = codec->check(header->parameter, header->dtype, rank);
  if (!status.ok()) return status;
  if (codec->open(header->parameter)) {
    return {StatusCode::kDamaged, std::string(codec->name) + ": the parameter is left open"};
  }
  const Info info{*header, codec, mark};
  if (Status claim = check_claim(info); !claim.ok()) return claim;
  return info;
}

Status decode_on_host(const Info& info, ByteView source, const codec::Accumulate& accumulate,
                      std::byte* destination) {
  const ByteView body = source.subspan(info.header.header_bytes(), info.header.body_bytes);
  const DefaultFloatMode mode;
  return on_wide_stack([&] { return decode_body(info, body, accumulate, destination); });
}

Result<Info> inspect(ByteView source, const frame::Mark& mark) {
  const auto place = device::place_of(source.data());
  if (!place.ok()) return place.status();
  return inspect_at(source, *place, mark, nullptr);
}

Result<Info> decode(ByteView source, MutableByteView destination, const frame::Mark& mark,
                    device::StreamHandle stream, const codec::Accumulate& accumulate) {
  const auto from = device::place_of(source.data());
  if (!from.ok()) return from.status();
  auto info = inspect_at(source, *from, mark, stream);
  if (!info.ok()) return info;
  if (info->header.raw_bytes() > destination.size()) {
    return {StatusCode::kTooSmall, "the message has " + std::to_string(info->header.raw_bytes()) +
                                       " bytes, the destination " +
                                       std::to_string(destination.size())};
  }
  if (accumulate.adds && !is_added(info->header.dtype)) {
    return {StatusCode::kUnsupported, std::string("an array of ") + dtype_name(info->header.dtype) +
                                          " cannot be added to another"};
  }
  const auto to = device::place_of(destination.data());
  if (!to.ok()) return to.status();
  // Before anything is loaded: the frame may be anybody's.
  Status status = check_allowed(*info->codec);
  if (status.ok()) status = check_usable(*info->codec, to->on_device());
  if (!status.ok()) return status;
  if (to->on_device()) {
    status = decode_to_device(*info, source.data(), *from, destination.data(), to->device,
                              accumulate, stream);
  } else if (from->on_device()) {
    status =
        decode_to_host(*info, source.data(), from->device, destination.data(), accumulate, stream);
  } else {
    status = decode_on_host(*info, source, accumulate, destination.data());
  }
  if (!status.ok()) return status;
  return info;
}

}  // namespace thinwire::message
