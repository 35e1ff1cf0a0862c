// Frames with something wrong in them under right checksums, made fast: of each codec and type a
// few short frames are made once, and then changed in place.
#pragma once

#include <string>

#include "fuzz/input.h"

namespace thinwire::fuzz {

inline constexpr std::size_t kLongestForgery = 4096;

// The short frames of one codec and type, and what became of their forgeries.
struct Origin {
  std::string codec;
  std::string dtype;
  bool lossless = false;
  std::vector<Bytes> frames;
  std::uint64_t runs = 0;
  std::uint64_t decoded = 0;
};

// Makes origins of every codec of the registry that this host can decode, one for each of its
// types.
std::vector<Origin> make_origins();

// Writes one of the origin's frames, changed and sealed again, into `room` (kLongestForgery bytes),
// so that it ends where `room` ends, and returns it. It allocates nothing.
MutableByteView forge(const Origin& origin, Random& random, MutableByteView room);

}  // namespace thinwire::fuzz
