#include <algorithm>
#include <optional>

#include "base/checksum.h"
#include "base/float_mode.h"
#include "base/wide_stack.h"
#include "codec/integers.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "device/pool.h"
#include "message/fill_values.h"
#include "message/find_fill.h"
#include "message/gpu.h"
#include "message/holed.h"
#include "message/host.h"

namespace thinwire::message {

Coder raw_coder() { return {&codec::raw_codec(), 0}; }

frame::Header make_header(const Coder& coder, const codec::Chunk& array, bool chunk_checksums) {
  frame::Header header;
  const bool is_folded = array.shape.rank > coder.codec->max_rank;
  header.version = coder.as_line || is_folded ? frame::kCodedShapesVersion : 0;
  header.codec = coder.codec->id;
  header.codec_version = coder.codec->version;
  header.dtype = array.dtype;
  header.shape = array.shape;
  header.parameter = coder.parameter;
  header.chunk_checksums = chunk_checksums;
  header.as_line = coder.as_line;
  return header;
}

namespace {

// Encodes one chunk at `out` and returns its row of the chunk table, checksum in the high half.
Result<std::uint64_t> encode_chunk(const Coder& coder, const codec::Chunk& chunk,
                                   const std::byte* source, const Holes* holes, std::byte* out,
                                   bool with_checksum) {
  auto coded = holes == nullptr ? coder.codec->encode(source, chunk, coder.parameter, out)
                                : encode_holed(coder, chunk, source, *holes, out);
  if (!coded.ok()) return coded.status();
  std::uint64_t bytes = *coded;
  std::uint32_t row = static_cast<std::uint32_t>(bytes);
  const bool may_be_raw = !coder.codec->fixed_size || holes != nullptr;
  if (may_be_raw && bytes >= chunk.raw_bytes()) {
    bytes = chunk.raw_bytes();
    std::memcpy(out, source, bytes);
    row = static_cast<std::uint32_t>(bytes) | codec::kRawChunk;
  }
  const std::uint64_t sum = with_checksum ? checksum({out, bytes}) & 0xFFFFFFFFu : 0;
  return sum << 32 | row;
}

// Looks at the values on their way to a lossy codec, a chunk at a time, when it would fetch them
// from memory itself.
class IntegerWatch {
 public:
  IntegerWatch(const Coder& coder, const codec::Chunk& array, const EncodeOptions& options)
      : dtype_(array.dtype),
        declines_(declines_integers(coder, array, options)),
        looks_(declines_ || (!coder.codec->lossless && array.dtype == Dtype::kF32)) {}

  // False if the array is to be declined.
  bool pass(const std::byte* values, std::uint64_t count) {
    if (!looks_ || !codec::holds_integers(values, dtype_, count)) return true;
    looks_ = false;
    found_ = true;
    return !declines_;
  }

  // Counts an array that was coded.
  void count() const {
    if (found_) count_coded_integers();
  }

 private:
  Dtype dtype_;
  bool declines_;
  bool looks_;
  bool found_ = false;
};

Result<std::uint64_t> encode_frame(const Coder& coder, const codec::Chunk& array,
                                   const std::byte* source, const Holes* holes,
                                   MutableByteView destination, const EncodeOptions& options) {
  const codec::Layout layout = coder.layout(array);
  frame::Header header = make_header(coder, array, options.chunk_checksums);
  if (holes != nullptr) {
    header.version = frame::kFillsVersion;
    header.has_fill = true;
    header.fill = holes->fill;
  }
  std::byte* const table = destination.data() + header.header_bytes();
  std::byte* out = table + layout.table_bytes();
  alignas(64) std::byte gathered[codec::kMostBoxBytes];
  IntegerWatch watch(coder, array, options);
  for (std::uint64_t index = 0; index < layout.chunks; ++index) {
    const std::byte* values = gathered;
    if (layout.in_boxes) {
      codec::gather(source, layout.box(index), dtype_size(array.dtype), gathered);
    } else {
      values = source + layout.raw_offset(index);
    }
    const codec::Chunk chunk = layout.chunk(index);
    if (!watch.pass(values, chunk.shape.count())) return holds_integers(coder);
    auto row = encode_chunk(coder, chunk, values, holes, out, options.chunk_checksums);
    if (!row.ok()) return row.status();
    store(table + index * codec::kTableRowBytes, *row);
    out += *row & codec::kMostChunkBytes;
  }
  watch.count();
  header.body_bytes = static_cast<std::uint64_t>(out - table);
  frame::pack(header, options.mark, destination.data());
  return header.frame_bytes();
}

}  // namespace

Status check_usable(const codec::Codec& codec, bool on_device) {
  if (codec.available != nullptr) {
    if (const Status status = codec.available(); !status.ok()) {
      return {status.code(), std::string(codec.name) + ": " + status.message()};
    }
  }
  if (!codec.gpu_only || on_device) return {};
  return {StatusCode::kUnsupported,
          std::string(codec.name) + " codes arrays in GPU memory only, this one is in host memory"};
}

Status holds_integers(const Coder& coder) {
  count_declined_integers();
  return {StatusCode::kHoldsIntegers,
          std::string(coder.codec->name) +
              ": values read as integers in the bits of doubles, which a lossy codec would destroy "
              "(THINWIRE_INTEGERS=code encodes them)"};
}

namespace {

// Encodes with the coder, whatever the frame's size.
Result<std::uint64_t> encode_coded(const Coder& coder, const codec::Chunk& array,
                                   const std::byte* source, MutableByteView destination,
                                   const EncodeOptions& options) {
  const std::optional<std::uint64_t> fill = find_fill(coder.fill, array, source);
  if (looks_for_fill_values(coder, array, options) && holds_fill_values(array, source, fill)) {
    return declined_for_fill_values(coder);
  }
  Coder closed = coder;
  if (coder.codec->open(coder.parameter)) {
    closed.parameter = fill ? resolve_without(coder, array, source, *fill)
                            : coder.codec->resolve(source, array, coder.parameter);
  }
  if (!fill) return encode_frame(closed, array, source, nullptr, destination, options);
  const auto room = device::acquire_host(closed.layout(array).chunk(0).raw_bytes());
  if (!room.ok()) return room.status();
  const Holes holes{*fill, room->data()};
  return encode_frame(closed, array, source, &holes, destination, options);
}

Result<std::uint64_t> encode_here(const Coder& coder, const codec::Chunk& array,
                                  const std::byte* source, MutableByteView destination,
                                  const EncodeOptions& options) {
  if (!is_hopeless(coder, array)) {
    auto written = encode_coded(coder, array, source, destination, options);
    if (written.ok() && *written < array.raw_bytes()) return written;
    if (!written.ok() && !is_declined(written.status().code())) return written;
    if (options.decline && !written.ok()) return written;
  }
  if (options.decline) {
    return {StatusCode::kDeclined, "the frame would not be smaller than the data"};
  }
  return encode_frame(raw_coder(), array, source, nullptr, destination, options);
}

}  // namespace

Result<std::uint64_t> encode_on_host(const Coder& coder, const codec::Chunk& array,
                                     const std::byte* source, MutableByteView destination,
                                     const EncodeOptions& options) {
  const DefaultFloatMode mode;
  return on_wide_stack([&] { return encode_here(coder, array, source, destination, options); });
}

Result<std::uint64_t> encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                             MutableByteView destination, const EncodeOptions& options) {
  auto most = bound(coder, array);
  if (!most.ok()) return most.status();
  if (Status status = check_capacity(*most, destination.size()); !status.ok()) return status;
  const auto from = device::place_of(source);
  if (!from.ok()) return from.status();
  const auto to = device::place_of(destination.data());
  if (!to.ok()) return to.status();
  Status status = check_usable(*coder.codec, from->on_device());
  if (!status.ok()) return status;
  if (from->on_device()) {
    return encode_from_device(coder, array, source, from->device, destination, *to, *most, options);
  }
  if (to->on_device()) {
    return encode_to_device(coder, array, source, destination, to->device, *most, options);
  }
  return encode_on_host(coder, array, source, destination, options);
}

}  // namespace thinwire::message
