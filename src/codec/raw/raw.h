// Codec 0: the bytes themselves. See spec/codec-raw.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kRaw;

// In builds with CUDA only.
extern const DeviceCodec kRawDevice;

}  // namespace thinwire::codec
