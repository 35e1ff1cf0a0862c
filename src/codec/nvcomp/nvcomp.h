// Codecs 8 to 12: NVIDIA's nvCOMP, where it is installed. See spec/codec-nvcomp.md.
#pragma once

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

extern const Codec kNvcompAns;
extern const Codec kNvcompBitcomp;
extern const Codec kNvcompCascaded;
extern const Codec kNvcompLz4;
extern const Codec kNvcompBitcompLossy;

namespace nvcomp {

inline constexpr int kRowCount = 5;

// In builds with CUDA only, in the order of the rows of rows.h.
extern const DeviceCodec kDevices[kRowCount];

}  // namespace nvcomp
}  // namespace thinwire::codec
