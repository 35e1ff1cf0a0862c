// One chunk on the host.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec::expack {

// The payload's size; no less than the chunk's if it would not be smaller, and nothing is
// written then.
std::uint64_t encode_chunk(const std::byte* source, const Chunk& chunk, std::uint64_t mode,
                           std::byte* out);

Status decode_chunk(ByteView encoded, const Chunk& chunk, std::byte* out);

}  // namespace thinwire::codec::expack
