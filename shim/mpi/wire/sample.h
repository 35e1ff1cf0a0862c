// A piece of a message that tells whether the rest is worth an attempt.
#pragma once

#include <cstdint>
#include <optional>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

struct Sample {
  tw_shape shape{};
  std::uint64_t offset = 0;  // in bytes, of whole planes of the array
};

// A piece of an array of `bytes` bytes: about a 32nd, 64 KiB at most, cut along the slowest axis.
// It starts in the middle for `turn` 0 and elsewhere for the turns that follow, so that no part of
// an array speaks for the others for ever. Nothing where no piece is small against the array.
std::optional<Sample> sample_of(const tw_shape& shape, std::uint64_t bytes, std::uint32_t turn);

}  // namespace thinwire::mpi
