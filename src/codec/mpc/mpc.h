// Codec 2: MPC, lossless. See spec/codec-mpc.md.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec {

extern const Codec kMpc;

}  // namespace thinwire::codec
