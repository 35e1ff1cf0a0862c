// The memory that the message of an inspected receive goes to, and what it is posted as.
#pragma once

#include <cstdint>

#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/datatypes.h"

namespace thinwire::mpi {

// Returns what is wrong with the user's buffer, not raised.
int find_destination(const Incoming& message, std::uint64_t capacity, Destination& destination);

// Reserves the destination's bytes or takes scratch. Returns what went wrong, not raised. No lock
// is held here: receives that the program freed may be completed first.
int find_receive_space(const Destination& destination, ReceiveSpace& space);

// Whether scratch is received as bytes of which one lies apart. Open MPI copies a message from
// another process of the host whole, past the end of dense memory that it is too long for. A type
// with gaps is safe from that, so its scratch must be, too: only what has gaps is.
inline bool keeps_one_apart([[maybe_unused]] const Destination& destination) {
#ifdef OPEN_MPI
  return !destination.dense;
#else
  return false;
#endif
}

// How the MPI is told of it: as bytes, because a frame's length is no multiple of anything.
class PostedAs {
 public:
  PostedAs(const Destination& destination, const ReceiveSpace& space)
      : gaps_(space.reservation && !destination.dense),
        bytes_(gaps_ ? 0 : destination.capacity,
               !space.reservation && keeps_one_apart(destination)),
        data_(space.reservation ? destination.buffer : space.wire.data()),
        count_(gaps_ ? destination.count : bytes_.count()),
        type_(gaps_ ? *destination.bytes.type : bytes_.type()) {}
  void* data() const { return data_; }
  MPI_Count count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  bool gaps_;
  ByteCount bytes_;
  void* data_;
  MPI_Count count_;
  MPI_Datatype type_;
};

}  // namespace thinwire::mpi
