// Codec 1: ZFP fixed rate, byte-identical to libzfp. See spec/codec-zfp.md.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec {

extern const Codec kZfp;

}  // namespace thinwire::codec
