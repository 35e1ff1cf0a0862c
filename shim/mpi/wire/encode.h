// The send side: whether a message is compressed, and its wire form.
#pragma once

#include <cstdint>
#include <optional>

#include "abi/mpi_abi.h"
#include "thinwire/thinwire.h"
#include "wire/pool.h"

namespace thinwire::mpi {

// The user's arguments of a send.
struct Outgoing {
  const void* buffer;
  int count;
  MPI_Datatype type;
  int destination;
  MPI_Comm comm;
};

// A message ready to travel in place of the user's.
struct Wire {
  Lease data;
  std::uint64_t bytes;
  std::uint64_t raw_bytes;
  std::uint64_t predicted_nanoseconds;  // 0 where no link is stated
};

// Counts `wire` as sent unless the MPI refused it; returns `error`, the MPI's own.
int count_compressed(const Wire& wire, int error);

// Counts a send that is not compressed.
void count_raw(tw_reason reason, std::uint64_t bytes);

// The wire message to send instead, or nothing where the message goes raw (counted by reason).
std::optional<Wire> encode(const Outgoing& message);

}  // namespace thinwire::mpi
