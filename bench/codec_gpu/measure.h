// The times of one codec on one array.
#pragma once

#include <string>

#include "job.h"
#include "timing.h"

namespace thinwire::bench {

// Microseconds. Where the codec declined the array there is no frame and nothing to decode, and
// "ready" is when the host knew that.
struct Measured {
  bool declined = false;
  std::uint64_t frame_bytes = 0;
  Times encode;       // on the GPU
  Times decode;       // on the GPU
  Times ready;        // host: from an idle GPU until it knows the frame's size
  Times graph_ready;  // the same, replaying a graph of the encode
  Times decoded;      // host: until the array is there
};

// Throws std::runtime_error where a call fails or the calls disagree.
Measured measure(const Coder& coder, const Slots& slots, const Stream& stream,
                 const DeviceBytes& flush);

}  // namespace thinwire::bench
