// Starting sends and receives, shared by the calls, probes and persistent requests.
#pragma once

#include <memory>

#include "abi/datatypes.h"
#include "abi/mpi_abi.h"
#include "peers/peers.h"
#include "process/shortcut.h"
#include "wire/encode.h"

namespace thinwire::mpi {

using NonblockingSend = decltype(&PMPI_Isend);

// The user's arguments of a receive.
struct Incoming {
  void* buffer;
  int count;
  MPI_Datatype type;
  int source;
  int tag;
  MPI_Comm comm;
};

// As MPI_Isend with `call`'s mode, compressed where the plan says so; `*request` may be hooked.
int nonblocking_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request);

// The same for a message that sends_raw_at_once() left to the plan.
int start_large_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request);

// As MPI_Irecv; `*request` is hooked where the message may come compressed or lies in a stash.
int nonblocking_receive(const Incoming& message, MPI_Request* request);

// Receives a message that lies in a stash, blocking or as MPI_Irecv would; needs its buffer, count,
// type and communicator only.
int receive_stashed(Stashed& stashed, const Incoming& message, MPI_Status* status);
int receive_stashed_later(std::unique_ptr<Stashed> stashed, const Incoming& message,
                          MPI_Request* request);

// Whether a receive of `bytes` bytes needs a hook.
inline bool needs_hook(const Incoming& message, std::uint64_t bytes) {
  return bytes >= thresholds.receive && may_receive_compressed(message.comm, message.source) &&
         !is_null_buffer(message.buffer, message.type);
}

}  // namespace thinwire::mpi
