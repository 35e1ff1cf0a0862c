// Codec 4: integer Lorenzo residuals in bit planes, lossless. See spec/codec-lorenzo.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kLorenzo;

// In builds with CUDA only.
extern const DeviceCodec kLorenzoDevice;

}  // namespace thinwire::codec
