#include <algorithm>
#include <optional>

#include "capi/errors.h"
#include "capi/handles.h"

using namespace thinwire;

namespace {

std::optional<codec::Chunk> to_array(const tw_shape* shape) {
  if (shape == nullptr || shape->dtype >= kDtypeCount || shape->rank < 1 ||
      shape->rank > kMaxRank) {
    return std::nullopt;
  }
  codec::Chunk array;
  array.dtype = static_cast<Dtype>(shape->dtype);
  array.shape.rank = static_cast<int>(shape->rank);
  std::copy_n(shape->extent, shape->rank, array.shape.extent.begin());
  return array;
}

bool usable(const tw_message_options* options) {
  return options == nullptr || options->size >= sizeof(tw_message_options);
}

frame::Mark mark_of(const tw_message_options* options) {
  if (options == nullptr || options->job == nullptr) return frame::file_mark();
  return frame::job_mark({reinterpret_cast<const std::byte*>(options->job), options->job_bytes});
}

void fill(const message::Info& from, tw_message_info* info) {
  info->codec_id = from.header.codec;
  info->shape = {};
  info->shape.dtype = static_cast<uint32_t>(from.header.dtype);
  info->shape.rank = static_cast<uint32_t>(from.header.shape.rank);
  std::copy_n(from.header.shape.extent.begin(), from.header.shape.rank, info->shape.extent);
  info->raw_bytes = from.header.raw_bytes();
  info->frame_bytes = from.header.frame_bytes();
  std::string spec = from.codec->name;
  const std::string options = from.codec->describe(from.header.parameter);
  if (!options.empty()) spec += ":" + options;
  spec.copy(info->spec, sizeof info->spec - 1);
  info->spec[std::min(spec.size(), sizeof info->spec - 1)] = '\0';
}

ByteView view(const void* at, uint64_t length) {
  return {static_cast<const std::byte*>(at), length};
}

}  // namespace

tw_status tw_message_bound(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes) {
  return capi::guarded([&] {
    const auto array = to_array(shape);
    if (codec == nullptr || !array || bytes == nullptr) {
      return capi::misuse("tw_message_bound: null pointer, unknown dtype, or rank not 1 to 4");
    }
    auto most = message::bound(codec->coder(), *array);
    if (most.ok()) *bytes = *most;
    return capi::report(most.status());
  });
}

tw_status tw_message_encode(const tw_codec* codec, const tw_shape* shape, const void* source,
                            void* destination, uint64_t capacity, const tw_message_options* options,
                            uint64_t* written) {
  return capi::guarded([&] {
    const auto array = to_array(shape);
    if (codec == nullptr || !array || destination == nullptr || written == nullptr ||
        !usable(options) || (source == nullptr && array->shape.count() != 0)) {
      return capi::misuse("tw_message_encode: null pointer, unknown dtype, or size not set");
    }
    message::EncodeOptions encode_options;
    encode_options.mark = mark_of(options);
    if (options != nullptr) {
      encode_options.decline = (options->flags & TW_MESSAGE_DECLINE) != 0;
      encode_options.chunk_checksums = (options->flags & TW_MESSAGE_NO_CHECKSUM) == 0;
    }
    auto length = message::encode(codec->coder(), *array, static_cast<const std::byte*>(source),
                                  {static_cast<std::byte*>(destination), capacity}, encode_options);
    if (length.ok()) *written = *length;
    return capi::report(length.status());
  });
}

tw_status tw_message_inspect(const void* source, uint64_t length, const tw_message_options* options,
                             tw_message_info* info) {
  return capi::guarded([&] {
    if (source == nullptr || info == nullptr || info->size < sizeof(tw_message_info) ||
        !usable(options)) {
      return capi::misuse("tw_message_inspect: null pointer, or size not set");
    }
    auto found = message::inspect(view(source, length), mark_of(options));
    if (found.ok()) fill(*found, info);
    return capi::report(found.status());
  });
}

tw_status tw_message_decode(const void* source, uint64_t length, void* destination,
                            uint64_t capacity, const tw_message_options* options,
                            tw_message_info* info) {
  return capi::guarded([&] {
    if (source == nullptr || (destination == nullptr && capacity != 0) || !usable(options) ||
        (info != nullptr && info->size < sizeof(tw_message_info))) {
      return capi::misuse("tw_message_decode: null pointer, or size not set");
    }
    auto found = message::decode(
        view(source, length), {static_cast<std::byte*>(destination), capacity}, mark_of(options));
    if (found.ok() && info != nullptr) fill(*found, info);
    return capi::report(found.status());
  });
}
