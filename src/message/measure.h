// How fast a codec is here and now: the numbers that the plan weighs against a link.
#pragma once

#include "message/message.h"

namespace thinwire::message {

struct CodecSpeed {
  double encode_bytes_per_second;  // of uncompressed bytes
  double decode_bytes_per_second;
  double ratio;
};

// Encodes and decodes `bytes` bytes of a smooth generated array and keeps the fastest of several
// runs, whole frames with checksums. kInternal where a decode fails.
Result<CodecSpeed> measure(const Coder& coder, Dtype dtype, std::uint64_t bytes);

// The same for an array on a GPU whose frame travels through pinned memory: what staged messages
// pay, copies included.
Result<CodecSpeed> measure_on_device(const Coder& coder, Dtype dtype, std::uint64_t bytes,
                                     int device);

}  // namespace thinwire::message
