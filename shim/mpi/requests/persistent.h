// Persistent requests: the user holds a token, each start is an operation of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi/mpi_abi.h"
#include "calls/nonblocking.h"

namespace thinwire::mpi {

struct Persistent {
  bool is_send;
  NonblockingSend send_call;  // the send's mode
  Outgoing outgoing;
  Incoming incoming;
  int tag;
  MPI_Request active;  // of the operation that was started last; MPI_REQUEST_NULL when inactive
};

extern std::atomic<std::uint64_t> live_persistent;

// nullptr for a request that is no such token. The entry stays until MPI_Request_free.
Persistent* find_persistent(MPI_Request token);

}  // namespace thinwire::mpi
