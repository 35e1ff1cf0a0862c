// The masks of a piece on the host: a byte a value that is not 0 if the value's word is not, and
// the quads that a payload has of these. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/pieces.h"

namespace thinwire::codec::ans {

// Words of 0 have a byte of 0 in all of so many planes, which lie `apart`.
void find_words(const std::byte* planes, std::uint32_t count, std::uint32_t apart,
                std::uint32_t values, std::byte* mask);

void make_quads(const std::byte* mask, std::uint32_t values, std::byte* quads);

// The inverse. False if quads have bits of values that there are not.
bool spread_quads(const std::byte* quads, std::uint32_t values, std::byte* mask);

}  // namespace thinwire::codec::ans
