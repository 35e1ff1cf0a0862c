// Messages in stream order: one kernel on the caller's stream, nothing waited for.
#pragma once

#include "codec/blocks.h"
#include "message/message.h"
#include "slot/seal.h"

namespace thinwire::message {

// Memory that the caller lends until the work has run; the device reaches all of it.
struct Lent {
  std::byte* workspace;  // zeros before its first use
  std::uint64_t workspace_bytes;
  device::Outcome* outcome;               // 0
  const std::uint64_t* given = nullptr;   // of an encode, see codec::EncodeJob
  const slot::ToSeal* seal = nullptr;     // of an encode by a codec that seals, likewise
  const codec::Blocks* blocks = nullptr;  // of a codec that takes them, in the place of both sides
  bool in_context = false;  // the caller has made the device current; nobody asks where memory lies
};

// Bytes of workspace for either direction; kUnsupported if the codec has no GPU side.
Result<std::uint64_t> workspace_bytes(const Coder& coder, const codec::Chunk& array);

// As encode() on options.stream; what is declined has no frame, whatever options.decline says (for
// integers, if options.declines_integers: callers whose receiver expects a frame say no). Of a
// codec of fixed size fixed_bytes() are room enough.
Status enqueue_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                      MutableByteView destination, const EncodeOptions& options, const Lent& lent);

// Decodes a frame that must be of this coder, array and options; of any parameter if the coder's
// is open.
Status enqueue_decode(const Coder& coder, const codec::Chunk& array, ByteView source,
                      MutableByteView destination, const codec::Accumulate& accumulate,
                      const EncodeOptions& options, const Lent& lent);

}  // namespace thinwire::message
