// How fast a codec is here and now: the numbers that the plan weighs against a link.
#pragma once

#include "message/message.h"

namespace thinwire::message {

struct CodecSpeed {
  double encode_bytes_per_second;  // of uncompressed bytes
  double decode_bytes_per_second;
  double ratio;
};

// Encodes and decodes such an array, generated and smooth along every axis, and keeps the fastest
// of several runs, whole frames with checksums. kInternal if a decode fails.
Result<CodecSpeed> measure(const Coder& coder, const codec::Chunk& array);

// The same for an array on a GPU whose frame travels through pinned memory: what staged messages
// pay, copies included.
Result<CodecSpeed> measure_on_device(const Coder& coder, const codec::Chunk& array, int device);

}  // namespace thinwire::message
