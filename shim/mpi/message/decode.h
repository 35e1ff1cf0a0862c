// Tells what a received message is, and decodes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "shim/mpi/message/destination.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Whether the bytes are a frame of this job; then also its raw size. A frame whose header is
// damaged has its mark all the same, and is no data of the program's.
enum class Kind { kRaw, kFrame, kDamaged };
Kind examine(const void* wire, std::uint64_t bytes, std::uint64_t* raw_bytes);

// Notes that a message of `bytes` bytes cannot be decoded because there is no memory to do it in.
// Returns MPI's error, not raised.
int lack_memory(std::uint64_t bytes);

// Counts a decode that has ended, and logs what is wrong with the frame itself. What was no frame,
// or lacked room, is not counted.
void count_decode(tw_status status, std::chrono::steady_clock::time_point start);

template <typename Decode>
tw_status counted_decode(Decode&& decode) {
  const auto start = std::chrono::steady_clock::now();
  const tw_status status = decode();
  count_decode(status, start);
  return status;
}

// Decodes into `out`; counted.
tw_status decode(const void* wire, std::uint64_t bytes, void* out, std::uint64_t capacity);

// Decoding where the process has no memory for a message: a chunk at a time, in memory that was set
// aside for it.

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
