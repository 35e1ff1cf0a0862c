// The payload of one chunk in pieces on the host. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/status.h"

namespace thinwire::codec::ans {

// Writes the payload of `values` values to `out`, which has kMostFrontBytes + 8 * kPieces bytes
// more than they have; returns its bytes, or those of the values if it would not be smaller.
template <typename Word>
std::uint64_t encode_pieces(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                            std::byte* out);

template <typename Word>
Status decode_pieces(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out);

}  // namespace thinwire::codec::ans
