// The codecs' rows by name. Each codec's folder defines its own (codec.h says what a row has); the
// registry collects them.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

// A GPU side is there only in builds with CUDA; nvCOMP's codecs keep theirs to themselves.
#define CODEC(name)           \
  extern const Codec k##name; \
  extern const DeviceCodec k##name##Device;
#define TEST_CODEC(name) extern const Codec k##name;
#include "codec/codecs.def"

}  // namespace thinwire::codec
