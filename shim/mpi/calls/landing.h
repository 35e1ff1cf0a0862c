// Where the message of a hooked receive goes, and what it is posted as.
#pragma once

#include <cstdint>

#include "abi/datatypes.h"
#include "calls/nonblocking.h"
#include "requests/hooks.h"

namespace thinwire::mpi {

// Returns what is wrong with the user's buffer, raised.
int find_destination(const Incoming& message, std::uint64_t capacity, Destination& destination);

// Claims the destination's bytes or takes scratch. Returns what went wrong, not raised. No lock is
// held here: receives that the program freed may be completed first.
int find_landing(const Destination& destination, Landing& landing);

// How the MPI is told of a landing: as bytes, because a frame's length is no multiple of anything.
class PostedAs {
 public:
  PostedAs(const Destination& destination, const Landing& landing)
      : gaps_(landing.claim && !destination.dense),
        bytes_(gaps_ ? 0 : destination.capacity),
        data_(landing.claim ? destination.buffer : landing.wire.data()),
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
