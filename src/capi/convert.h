// The C ABI's structs to the library's types, and one check for all entries of rates, costs and
// sizes.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "capi/boundary.h"
#include "capi/handles.h"
#include "codec/codec.h"
#include "message/message.h"

namespace thinwire::capi {

// Nothing for a null pointer, an unknown dtype or a rank that is not 1 to 4.
std::optional<codec::Chunk> to_array(const tw_shape* shape);

// The options in today's layout, all defaults for a null pointer; false if they are not sound.
class MessageOptions {
 public:
  explicit MessageOptions(const tw_message_options* given);
  explicit operator bool() const { return static_cast<bool>(taken_) && known_; }
  const tw_message_options* operator->() const { return &*taken_; }
  const tw_message_options& operator*() const { return *taken_; }

 private:
  Taken<tw_message_options> taken_;
  bool known_;  // the flags
};

message::EncodeOptions to_encode_options(const tw_message_options& options);
codec::Accumulate to_accumulate(const tw_message_options& options);

inline const std::byte* bytes_at(const void* pointer) {
  return static_cast<const std::byte*>(pointer);
}
inline std::byte* bytes_at(void* pointer) { return static_cast<std::byte*>(pointer); }

// A rate of a link: 0 if it is not stated, else finite and above 0.
inline bool is_rate(double bytes_per_second) {
  return std::isfinite(bytes_per_second) && bytes_per_second >= 0;
}

// A codec's cost: all 0 if it was not measured, else finite and above 0 throughout.
inline bool is_cost(const tw_codec_cost& cost) {
  const double values[] = {cost.encode_bytes_per_second, cost.decode_bytes_per_second, cost.ratio};
  int zeros = 0;
  for (const double value : values) {
    if (!is_rate(value)) return false;
    zeros += value == 0 ? 1 : 0;
  }
  return zeros == 0 || zeros == 3;
}

// A size that arithmetic with a few of its kind does not overflow.
inline bool is_size(std::uint64_t bytes) { return bytes <= UINT64_MAX / 4; }

}  // namespace thinwire::capi
