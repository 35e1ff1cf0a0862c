// Chunks of an array with missing values: a mask, then the codec's payload.
#pragma once

#include "message/message.h"

namespace thinwire::message {

// The missing values of an array, and room for a chunk in which others are in their place.
struct Holes {
  std::uint64_t fill;
  std::byte* room;
};

// Encodes one chunk at `out`; returns the payload's bytes. There is none of the codec's if all
// values are missing.
Result<std::uint64_t> encode_holed(const Coder& coder, const codec::Chunk& chunk,
                                   const std::byte* source, const Holes& holes, std::byte* out);

Status decode_holed(const Info& info, const codec::Chunk& chunk, ByteView encoded,
                    std::byte* values);

}  // namespace thinwire::message
