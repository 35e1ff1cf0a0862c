// Codec 0: the bytes themselves. See spec/codec-raw.md.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec {

extern const Codec kRaw;

}  // namespace thinwire::codec
