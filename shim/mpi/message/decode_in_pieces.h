// Decoding where the process has no memory for a message: a chunk at a time, in memory that was set
// aside for it.
#pragma once

#include <cstdint>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/decode.h"

namespace thinwire::mpi {

// The outcome: a raw message is left as it is, and `raw_bytes` is its own size.
struct Pieced {
  Kind kind;
  int error;  // MPI's, not raised
  std::uint64_t raw_bytes;
};

// The message of `bytes` bytes in the destination's own bytes, which are host memory and reserved.
// A frame passes through a file.
Pieced decode_in_place_by_pieces(const Destination& destination, std::uint64_t bytes);

// The frame of `bytes` bytes at `wire`, to such a destination.
Pieced decode_by_pieces(const Destination& destination, const std::byte* wire, std::uint64_t bytes);

}  // namespace thinwire::mpi
