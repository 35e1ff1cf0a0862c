// The 32 states of a chunk on the host: bytes go in, words come out, and back. See
// spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/format.h"
#include "codec/ans/model.h"

namespace thinwire::codec::ans {

using States = std::array<std::uint32_t, kLanes>;

// What may be written behind the end that words are given.
inline constexpr std::uint32_t kBehindWords = 2 * kLanes;

// How steps are taken: by any processor, or by some. All make the same of everything.
struct Stepper {
  // Writes words from `out` on for the bytes of a plane; returns where they end, or nullptr where
  // they would be past `end`, which kBehindWords bytes of room lie behind.
  std::byte* (*take_plane)(States& states, ByteView plane, const Steps& steps, std::byte* out,
                           const std::byte* end);

  // Writes the bytes of a plane, and takes words off the end of `words`, which kStateBytes bytes
  // lie before. False where words run out. States are from kLeastState to kStateEnd - 1.
  bool (*give_back_plane)(States& states, MutableByteView plane, const Slots& slots,
                          ByteView& words);
};

const Stepper& portable_stepper();

// By vectors of eight states; nullptr where this processor or this build has none.
const Stepper* wide_stepper();

// The fastest that there is.
const Stepper& stepper();

}  // namespace thinwire::codec::ans
