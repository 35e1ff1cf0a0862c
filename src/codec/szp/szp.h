// Codec 5: szp, error-bounded. See spec/codec-szp.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kSzp;

// In builds with CUDA only.
extern const DeviceCodec kSzpDevice;

}  // namespace thinwire::codec
