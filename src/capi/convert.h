// The C ABI's structs to the library's types.
#pragma once

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

}  // namespace thinwire::capi
