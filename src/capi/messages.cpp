#include <algorithm>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/stats.h"
#include "message/find_fill.h"
#include "message/pieces.h"

using namespace thinwire;
using namespace thinwire::capi;

namespace {

constexpr const char* kInspect =
    "tw_message_inspect: null pointer, or a size or flag that is not known";
constexpr const char* kDecode =
    "tw_message_decode: null pointer, or a size or flag that is not known";
constexpr const char* kPieces =
    "tw_message_decode_in_pieces: null pointer, or a size, field or flag that is not known";

// An optional output.
bool usable(const tw_message_info* info) { return info == nullptr || has_size(info); }

void fill(const message::Info& from, tw_message_info* to) {
  if (to == nullptr) return;
  tw_message_info info{};
  info.codec_id = from.header.codec;
  info.shape.dtype = static_cast<uint32_t>(from.header.dtype);
  info.shape.rank = static_cast<uint32_t>(from.header.shape.rank);
  std::copy_n(from.header.shape.extent.begin(), from.header.shape.rank, info.shape.extent);
  info.raw_bytes = from.header.raw_bytes();
  info.frame_bytes = from.header.frame_bytes();
  std::string spec = from.codec->name;
  const std::string options = from.codec->describe(from.header.parameter);
  if (!options.empty()) spec += ":" + options;
  if (from.header.has_fill) {
    spec += (options.empty() ? ":" : ",") + message::fill_text(from.header.dtype, from.header.fill);
  }
  spec.copy(info.spec, sizeof info.spec - 1);
  spec.copy(info.whole_spec, sizeof info.whole_spec - 1);
  give(info, to);
}

class GivenAccess : public message::PieceAccess {
 public:
  explicit GivenAccess(const tw_pieces& pieces) : pieces_(pieces) {}

  Status read(uint64_t offset, MutableByteView to) override {
    if (pieces_.read(pieces_.context, offset, to.size(), to.data()) == 0) return {};
    return {StatusCode::kInternal, "a piece of the frame cannot be read"};
  }
  Status write(uint64_t offset, ByteView from) override {
    if (pieces_.write(pieces_.context, offset, from.size(), from.data()) == 0) return {};
    return {StatusCode::kInternal, "a piece of the array cannot be written"};
  }

 private:
  const tw_pieces& pieces_;
};

}  // namespace

tw_status tw_message_bound(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes) {
  return guarded([&] {
    const auto array = to_array(shape);
    if (!is_open(codec) || !array || bytes == nullptr) {
      return misuse(
          "tw_message_bound: null pointer, destroyed codec, unknown dtype, or rank not 1 to 4");
    }
    auto most = codec->is_auto() ? message::automatic_bound(*array)
                                 : message::bound(codec->coder_of(*array), *array);
    if (most.ok()) *bytes = *most;
    return report(most.status());
  });
}

tw_status tw_message_encode(const tw_codec* codec, const tw_shape* shape, const void* source,
                            void* destination, uint64_t capacity, const tw_message_options* options,
                            uint64_t* written) {
  return guarded([&] {
    const auto array = to_array(shape);
    const MessageOptions own(options);
    if (!is_open(codec) || !array || destination == nullptr || written == nullptr || !own ||
        (source == nullptr && array->shape.count() != 0)) {
      return misuse(
          "tw_message_encode: null pointer, destroyed codec, unknown dtype, or a size or flag that "
          "is "
          "not known");
    }
    const message::EncodeOptions converted = to_encode_options(*own);
    const MutableByteView target{bytes_at(destination), capacity};
    auto length =
        codec->is_auto()
            ? message::encode_automatically(*array, bytes_at(source), target,
                                            message::terms_of(own->least_ratio), converted)
            : message::encode(codec->coder_of(*array), *array, bytes_at(source), target, converted);
    if (length.ok()) *written = *length;
    count_encode(array->raw_bytes(), length);
    return report(length.status());
  });
}

tw_status tw_integers_describe(tw_integer_counters* counters) {
  if (!has_size(counters)) return misuse("tw_integers_describe: null pointer, or size not set");
  const message::IntegerCounts counts = message::integer_counts();
  give(tw_integer_counters{0, 0, counts.declined, counts.coded}, counters);
  return TW_OK;
}

tw_status tw_message_inspect(const void* source, uint64_t length, const tw_message_options* options,
                             tw_message_info* info) {
  return guarded([&] {
    const MessageOptions own(options);
    if (source == nullptr || !has_size(info) || !own) return misuse(kInspect);
    auto found = message::inspect({bytes_at(source), length}, to_encode_options(*own).mark);
    if (found.ok()) fill(*found, info);
    return report(found.status());
  });
}

tw_status tw_message_decode(const void* source, uint64_t length, void* destination,
                            uint64_t capacity, const tw_message_options* options,
                            tw_message_info* info) {
  return guarded([&] {
    const MessageOptions own(options);
    if (source == nullptr || (destination == nullptr && capacity != 0) || !own || !usable(info)) {
      return misuse(kDecode);
    }
    const message::EncodeOptions converted = to_encode_options(*own);
    auto found = message::decode({bytes_at(source), length}, {bytes_at(destination), capacity},
                                 converted.mark, converted.stream, to_accumulate(*own));
    count_decode(found.status());
    if (found.ok()) fill(*found, info);
    return report(found.status());
  });
}

tw_status tw_message_decode_in_pieces(tw_pieces* pieces, uint64_t length,
                                      const tw_message_options* options, tw_message_info* info) {
  return guarded([&] {
    const Taken<tw_pieces> own(pieces);
    const MessageOptions settings(options);
    if (!own || own->reserved != 0 || own->read == nullptr || own->write == nullptr ||
        (own->workspace == nullptr && own->workspace_bytes != 0) || !settings || !usable(info)) {
      return misuse(kPieces);
    }
    GivenAccess access(*own);
    std::uint64_t needed = own->needed_bytes;
    auto found =
        message::decode_in_pieces(access, length, to_encode_options(*settings).mark,
                                  {bytes_at(own->workspace), own->workspace_bytes}, &needed);
    if (reaches(pieces, offsetof(tw_pieces, needed_bytes) + sizeof needed)) {
      pieces->needed_bytes = needed;
    }
    if (found.ok()) fill(*found, info);
    return report(found.status());
  });
}
