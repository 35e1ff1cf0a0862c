#include "capi/convert.h"

#include <algorithm>

namespace thinwire::capi {

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

message::EncodeOptions to_encode_options(const tw_message_options* options) {
  message::EncodeOptions converted;
  if (options == nullptr) return converted;
  if (options->job != nullptr) {
    converted.mark = frame::job_mark({bytes_at(options->job), options->job_bytes});
  }
  converted.decline = (options->flags & TW_MESSAGE_DECLINE) != 0;
  converted.chunk_checksums = (options->flags & TW_MESSAGE_NO_CHECKSUM) == 0;
  if ((options->flags & TW_MESSAGE_INTEGERS) != 0) converted.declines_integers = false;
  converted.stream = static_cast<device::StreamHandle>(options->stream);
  return converted;
}

double least_ratio(const tw_message_options* options) {
  return options == nullptr || options->least_ratio == 0 ? message::kLeastRatio
                                                         : options->least_ratio;
}

codec::Landing to_landing(const tw_message_options* options) {
  if (options == nullptr || (options->flags & TW_MESSAGE_ADD) == 0) return {};
  return {.adds = true, .scale = options->scale};
}

}  // namespace thinwire::capi
