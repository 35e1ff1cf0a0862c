// Codec 1: ZFP fixed rate, byte-identical to libzfp. See spec/codec-zfp.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kZfp;

// In builds with CUDA only.
extern const DeviceCodec kZfpDevice;

}  // namespace thinwire::codec
