// The 32 states of a chunk on the host. An encoder pushes the bytes of planes into them, and words
// come out when a state is full; a decoder reads these words from the last one back, and gets the
// bytes in reverse. See spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/format.h"
#include "codec/ans/model.h"

namespace thinwire::codec::ans {

using States = std::array<std::uint32_t, kLanes>;

// Bytes past `end` that take_plane() may write: those of a step's words from all lanes.
inline constexpr std::uint32_t kBehindWords = 2 * kLanes;

// The two directions of a plane, in code for any processor or for some. All give the same bytes.
struct Stepper {
  // Encodes a plane: writes its words from `out` on, and returns their end, or nullptr if that
  // would be past `end`. There must be kBehindWords bytes of room after `end`.
  std::byte* (*take_plane)(States& states, ByteView plane, const Steps& steps, std::byte* out,
                           const std::byte* end);

  // Decodes a plane: fills it, and takes the words that it needs off the end of `words`. False if
  // there are too few. States must be from kLeastState to kStateEnd - 1. kStateBytes bytes before
  // `words` may be read: there a payload has its states.
  bool (*give_back_plane)(States& states, MutableByteView plane, const Slots& slots,
                          ByteView& words);
};

const Stepper& portable_stepper();

// A stepper that works on vectors of eight states; nullptr if this processor or this build has
// none.
const Stepper* wide_stepper();

// The fastest stepper of this processor.
const Stepper& stepper();

}  // namespace thinwire::codec::ans
