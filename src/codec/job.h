// The jobs that a codec's kernels are given: a whole frame's body in one launch.
#pragma once

#include <cstdint>

#include "codec/accumulate.h"
#include "codec/blocks.h"
#include "codec/layout.h"
#include "device/stream.h"
#include "frame/seal.h"
#include "slot/seal.h"

namespace thinwire::codec {

// Encode `source` into the frame at `frame`: header, chunk table and payloads, one after the other,
// as the CPU would. All pointers are memory that the device reaches. If the frame would have
// `limit` bytes or more, or the codec declines the data, the outcome says so, and the bytes at
// `frame` are undefined. An open parameter is resolved by the kernels, in the header too.
struct EncodeJob {
  const std::byte* source;
  Layout layout;
  std::uint64_t parameter;
  frame::HeaderWords header;  // to be sealed by the kernel
  bool checksums;
  std::byte* frame;
  std::uint64_t limit;
  bool declines_integers;  // kHoldsIntegers for fp64 values that codec/integers.h takes for such
  std::byte* workspace;
  device::Outcome* outcome;
  device::StreamHandle stream;

  // Memory that the device reaches: what an open parameter has become by the time the kernels run.
  // nullptr: they find it out from the values.
  const std::uint64_t* given = nullptr;

  // The slot that the frame lies in, if any, which a codec that `seals` seals.
  slot::ToSeal seal{};

  // Blocks, in the host's memory, that are coded in the place of `source` and `frame`, by a codec
  // that takes them. Their slots are as `seal` says, but for the block's number and rank.
  const Blocks* blocks = nullptr;
};

// Decode the frame of `length` bytes at `frame` into `destination`. `header` is what the frame must
// begin with, body size and checksum aside; the kernel compares, so that it may be enqueued before
// the frame is there. Reads nothing outside the frame, writes nothing outside the array.
struct DecodeJob {
  const std::byte* frame;
  std::uint64_t length;
  Layout layout;
  std::uint64_t parameter;
  frame::HeaderWords header;
  bool checksums;
  std::byte* destination;
  Accumulate accumulate;
  std::byte* workspace;
  device::Outcome* outcome;
  device::StreamHandle stream;
  const Blocks* blocks = nullptr;  // in the place of `frame` and `destination`
};

// A codec's CUDA side. One kernel each (and one before it for an open parameter); the workspace is
// zeros before its first use, and kernels leave it as they found it, or, if the codec says that
// it does not leave zeros, fit for its own next use with any array. Both return after the work is
// enqueued.
struct DeviceCodec {
  std::uint64_t (*workspace_bytes)(const Layout& layout, std::uint64_t parameter);
  Status (*encode)(const EncodeJob& job);
  Status (*decode)(const DecodeJob& job);
  bool leaves_zeros = true;
  bool seals = false;         // encodes take EncodeJob::seal
  bool takes_blocks = false;  // jobs may have `blocks`, if the parameter is not open
};

}  // namespace thinwire::codec
