// The times of one codec on one array.
#pragma once

#include <optional>

#include "job.h"
#include "timing.h"
#include "verify.h"

namespace thinwire::bench {

// Microseconds. If the codec declined the array there is no frame and nothing to decode, and
// "ready" is when the host knew that.
struct Measured {
  Times encode;                     // on the GPU
  Times decode;                     // on the GPU
  std::optional<Times> decode_add;  // the same, added to an array; if the codec can
  Times ready;                      // host: from an idle GPU until it knows the frame's size
  Times ready_synced;               // host: until the stream is finished
  Times graph_ready;                // as ready, replaying a graph of the encode
  Times decoded;                    // host: until the polled word says that the array is there
  Times decoded_synced;             // host: until the stream is finished
  bool frames_vary = false;         // the same array had frames of the same size that differ
};

// Every phase writes over poison and is held to what is expected, in all places that it wrote to.
// Throws std::runtime_error where a call fails or something else comes out.
Measured measure(const Coder& coder, const Slots& slots, const Expected& expected,
                 const Stream& stream, const DeviceBytes& flush);

}  // namespace thinwire::bench
