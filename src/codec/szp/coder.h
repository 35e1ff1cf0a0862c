// One chunk of szp on the host.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec::szp {

// Returns the payload's bytes, or the chunk's raw bytes if it would not be smaller than those;
// `out` holds the raw bytes.
std::uint64_t encode_box(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                         std::byte* out);

Status decode_box(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out);

// The parameter word of a frame for a spec's that is relative to the range of `array`.
std::uint64_t close(const std::byte* source, const Chunk& array, std::uint64_t parameter);

}  // namespace thinwire::codec::szp
