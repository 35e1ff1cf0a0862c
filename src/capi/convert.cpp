#include "capi/convert.h"

#include <algorithm>

namespace thinwire::capi {
namespace {

constexpr std::uint32_t kMessageFlags =
    TW_MESSAGE_DECLINE | TW_MESSAGE_NO_CHECKSUM | TW_MESSAGE_ADD | TW_MESSAGE_INTEGERS;

constexpr tw_message_options kDefaults{
    .size = sizeof(tw_message_options),
    .flags = 0,
    .job = nullptr,
    .job_bytes = 0,
    .stream = nullptr,
    .scale = 0,
    .least_ratio = 0,
};

}  // namespace

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

MessageOptions::MessageOptions(const tw_message_options* given)
    : taken_(given != nullptr ? given : &kDefaults),
      known_(taken_ && (taken_->flags & ~kMessageFlags) == 0) {}

message::EncodeOptions to_encode_options(const tw_message_options& options) {
  message::EncodeOptions converted;
  if (options.job != nullptr) {
    converted.mark = frame::job_mark({bytes_at(options.job), options.job_bytes});
  }
  converted.decline = (options.flags & TW_MESSAGE_DECLINE) != 0;
  converted.chunk_checksums = (options.flags & TW_MESSAGE_NO_CHECKSUM) == 0;
  if ((options.flags & TW_MESSAGE_INTEGERS) != 0) {
    converted.declines_integers = false;
    converted.declines_fill_values = false;
  }
  converted.stream = static_cast<device::StreamHandle>(options.stream);
  return converted;
}

codec::Accumulate to_accumulate(const tw_message_options& options) {
  if ((options.flags & TW_MESSAGE_ADD) == 0) return {};
  return {.adds = true, .scale = options.scale == 0 ? 1 : options.scale};
}

}  // namespace thinwire::capi
