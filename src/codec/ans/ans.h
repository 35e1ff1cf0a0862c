// Codec 13: ans, lossless. See spec/codec-ans.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kAns;

// In builds with CUDA only.
extern const DeviceCodec kAnsDevice;

}  // namespace thinwire::codec
