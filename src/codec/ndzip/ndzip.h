// Codec 6: ndzip, lossless. See spec/codec-ndzip.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kNdzip;

// In builds with CUDA only.
extern const DeviceCodec kNdzipDevice;

}  // namespace thinwire::codec
