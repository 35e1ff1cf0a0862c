// Codec 2: MPC, lossless. See spec/codec-mpc.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kMpc;

// In builds with CUDA only.
extern const DeviceCodec kMpcDevice;

}  // namespace thinwire::codec
