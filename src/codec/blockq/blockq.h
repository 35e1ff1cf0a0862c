// Codec 7: blockq, blocks of small integers or 8-bit floats under a scale. See
// spec/codec-blockq.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kBlockq;

// In builds with CUDA only.
extern const DeviceCodec kBlockqDevice;

}  // namespace thinwire::codec
