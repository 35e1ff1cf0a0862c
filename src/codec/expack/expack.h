// Codec 3: expack, lossless. See spec/codec-expack.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kExpack;

// In builds with CUDA only.
extern const DeviceCodec kExpackDevice;

}  // namespace thinwire::codec
