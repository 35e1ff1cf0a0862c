// The destination of a received message in the user's memory, and the space that it arrives in.
#pragma once

#include <cstdint>

#include "shim/mpi/message/error_target.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/in_place.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

// The place of a received message in the user's memory.
struct Destination {
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type{};
  std::uint64_t capacity = 0;  // bytes
  MPI_Comm comm{};
  ErrorTargetPointer errors;  // of a pending receive, whose communicator may be freed meanwhile
  bool dense = false;         // what arrives lies in the buffer as it travelled
  bool may_be_frame = true;   // false: the sender never compresses such a message
  ByteForm bytes;             // of the type in host memory, where not dense
  bool on_device = false;     // the rest is set for GPU memory only
  bool direct = false;        // the MPI may write there itself
  int device = -1;            // the GPU's ordinal
  LayoutPointer layout;       // where not dense, from the address below on
  void* first = nullptr;

  Elements elements() const { return {buffer, bytes.map}; }
};

// The space for a message that arrives: its destination, whose bytes are reserved then, or in
// scratch.
struct ReceiveSpace {
  Lease wire;
  InPlace::Reservation reservation;
};

}  // namespace thinwire::mpi
