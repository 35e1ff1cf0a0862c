// The bytes before the frame of a delta packet: which reference it was made against; spec/delta.md.
// Pure functions over bytes.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/status.h"
#include "frame/header.h"

namespace thinwire::frame {

inline constexpr std::uint8_t kDeltaVersion = 0;
inline constexpr std::size_t kDeltaBytes = 32;

struct Delta {
  std::uint64_t reference = 0;  // its number
  std::uint64_t checksum = 0;   // of the reference's values of this piece
};

// Whether `bytes` begin as a delta packet of those who use this mark does.
bool is_delta(ByteView bytes, const Mark& mark);

// Writes kDeltaBytes bytes at `out`.
void pack_delta(const Delta& delta, const Mark& mark, std::byte* out);

// kNotAFrame or kDamaged tells what is wrong.
Result<Delta> unpack_delta(ByteView bytes, const Mark& mark);

}  // namespace thinwire::frame
