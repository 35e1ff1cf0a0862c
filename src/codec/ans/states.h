// The 32 states of a chunk on the host: bytes go in, words come out, and back. See
// spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/format.h"
#include "codec/ans/frequencies.h"

namespace thinwire::codec::ans {

using States = std::array<std::uint32_t, kLanes>;

// Writes words from `out` on for the bytes of a plane; returns where they end, or nullptr where
// they would be past `end`.
std::byte* take_plane(States& states, ByteView plane, const std::array<Step, kBytes>& steps,
                      std::byte* out, const std::byte* end);

// Writes the bytes of a plane, and takes words off the end of `words`, which kStateBytes bytes lie
// before. False where words run out.
bool give_back_plane(States& states, MutableByteView plane,
                     const std::array<std::uint32_t, kScale>& slots, ByteView& words);

}  // namespace thinwire::codec::ans
