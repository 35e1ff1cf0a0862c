// Which codecs this process decodes frames of: the receiver says so, never the frame.
#pragma once

#include <string_view>

#include "base/status.h"
#include "codec/codec.h"

namespace thinwire::message {

// The project's own codecs; of other projects' those that THINWIRE_DECODE or THINWIRE_CODEC name,
// as they are at the first call, and those that allow() was called for.
bool may_decode(const codec::Codec& codec);

// kUnsupported, and how to allow it, if the codec may not decode.
Status check_allowed(const codec::Codec& codec);

void allow(const codec::Codec& codec);

// The same of names with commas between them; kInvalidArgument, and nothing allowed, if one is
// none.
Status allow(std::string_view names);

}  // namespace thinwire::message
