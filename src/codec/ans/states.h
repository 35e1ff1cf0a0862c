// The 32 states of a piece on the host. An encoder works from the last group of values to the first
// and writes words from an end down, so that a decoder reads and works forward. See
// spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/model.h"
#include "codec/ans/pieces.h"

namespace thinwire::codec::ans {

using States = std::array<std::uint32_t, kLanes>;

// The states of a payload. False if one is none.
bool read_states(const std::byte* bytes, States& states);

bool are_least(const States& states);

// The planes of a piece that change states, each with a byte for every value. The bytes of a
// `masked` one count only if those at `mask` are not 0. If there are `quads`, one for four values
// each, their bits say which bytes of `mask` are not 0, and change states before a group's planes:
// decoding writes `mask`, and those quads that no whole group has.
template <typename Byte, typename Numbers>
struct Lines {
  struct Line {
    Byte* bytes;
    const Numbers* numbers;
    bool masked;
  };
  std::array<Line, 8> line;
  std::uint32_t count = 0;
  Byte* mask = nullptr;
  Byte* quads = nullptr;
  const Numbers* quad_numbers = nullptr;
  std::uint32_t values = 0;

  void add(Byte* bytes, const Numbers& numbers, bool masked) {
    line[count++] = {bytes, &numbers, masked};
  }
};
using LinesToTake = Lines<const std::byte, Steps>;
using LinesToGive = Lines<std::byte, Slots>;

// Bytes of words that one group takes at most, and what vectors write or read beyond.
inline constexpr std::uint32_t kMostGroupBytes = 8 * 2 * kGroupValues + 2 * kLanes + 16;

// The two directions of a group of values, in code for any processor or for some. All give the same
// bytes.
struct GroupStepper {
  // Encodes the group that begins with value `first`. Writes words before `end`, and up to 16 bytes
  // more; returns where they begin.
  std::byte* (*take)(States& states, const LinesToTake& lines, std::uint32_t first, std::byte* end);

  // Decodes it; returns where the words that are left begin. Up to 16 bytes more are read.
  const std::byte* (*give)(States& states, const LinesToGive& lines, std::uint32_t first,
                           const std::byte* words);
};

const GroupStepper& portable_group_stepper();

// nullptr if this processor or this build has none.
const GroupStepper* wide_group_stepper();

// All groups of a piece, by the fastest stepper of this processor. Words end at `end` and take no
// more than `room` bytes: else nullptr. kMostGroupBytes bytes before that may be written.
std::byte* take_piece(States& states, const LinesToTake& lines, std::byte* end, std::size_t room);

// False if `words` are too few, or too many. kMostGroupBytes bytes after them may be read.
bool give_piece(States& states, const LinesToGive& lines, ByteView words);

}  // namespace thinwire::codec::ans
