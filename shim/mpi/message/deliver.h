// From a message as it came off the wire to the user's buffer.
#pragma once

#include <cstdint>

#include "shim/mpi/message/destination.h"

namespace thinwire::mpi {

// The size of the message in `wire` once decoded: its own where it is raw or damaged.
std::uint64_t raw_length(const void* wire, std::uint64_t bytes);

// The bytes of the message that a status of the MPI tells of, as they were on the wire.
std::uint64_t wire_bytes_of(const MPI_Status& status);

// The destination's bytes, or an empty reservation where an active receive has some of them or it
// cannot be said which they are. The program may have learnt by other means that a receive which it
// freed is complete, so those are looked at before giving up.
InPlace::Reservation reserve_bytes(const Destination& destination);

// Decodes or copies the received message from where it landed to its destination; a raw message
// that arrived there stays as it is. The reservation and the scratch are given up. `status` is the
// MPI's and is corrected to raw sizes; `error` is the receive's own, which the MPI has raised.
// Returns it, or what went wrong here, for the caller to raise: MPI_ERR_TRUNCATE where the raw
// message does not fit, MPI_ERR_OTHER (logged) for a damaged one. `begun` is what
// begin_copy() returned for this message, if it was called.
int deliver(const Destination& destination, ReceiveSpace& space, MPI_Status& status, int error,
            tw_copy* begun = nullptr);

// Begins the copy of a raw message in `wire` to GPU memory, for deliver() to finish; nullptr for
// every other message, and where the copy could not be begun.
tw_copy* begin_copy(const Destination& destination, const Lease& wire, const MPI_Status& status);

// To the user's status, unless that is ignored. MPI_ERROR stays as it was: only calls that
// complete several requests at once may touch it.
void copy_status(const MPI_Status& from, MPI_Status* to);

}  // namespace thinwire::mpi
