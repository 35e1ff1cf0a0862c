// Starting sends and receives, shared by the calls, probes and persistent requests.
#pragma once

#include <memory>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/encode.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {

using NonblockingSend = CountedCall<decltype(&PMPI_Isend)>;

// The user's arguments of a receive.
struct Incoming {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int source;
  int tag;
  MPI_Comm comm;
  bool on_device = false;  // the buffer is GPU memory
};

// As MPI_Isend with `call`'s mode, compressed if the plan says so; `*request` may get a
// continuation.
int nonblocking_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request);

// The same for a message that sends_raw_at_once() left to the plan.
int start_large_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request);

// The wire form of a message in GPU memory: a frame, or a raw copy if the MPI cannot reach the
// buffer itself or `must_copy` says so; else nothing. Returns what went wrong, raised.
int depart(const Outgoing& message, bool must_copy, std::optional<Wire>& wire);

// Starts to send `wire` in place of `message`; keeps it until that is done.
int start_wire(NonblockingSend call, const Outgoing& message, Wire& wire, int tag,
               MPI_Request* request);

// As MPI_Irecv; `*request` gets a continuation where the message may come compressed or is an
// early one.
int nonblocking_receive(const Incoming& message, MPI_Request* request);

// Receives a message that a probe has taken, blocking or as MPI_Irecv would; needs the receive's
// buffer, count, type and communicator only.
int receive_early(std::shared_ptr<EarlyMessage> early, const Incoming& message, MPI_Status* status);
int receive_early_later(std::shared_ptr<EarlyMessage> early, const Incoming& message,
                        MPI_Request* request);

// As MPI_Mrecv and MPI_Imrecv of a raw message that the MPI holds.
int receive_matched(const Incoming& message, MPI_Message* handle, MPI_Status* status);
int receive_matched_later(const Incoming& message, MPI_Message* handle, MPI_Request* request);

// Whether a receive of `bytes` bytes may meet a frame.
inline bool may_meet_frame(const Incoming& message, std::uint64_t bytes) {
  return bytes >= thresholds.receive && may_receive_compressed(message.comm, message.source) &&
         !is_null_buffer(message.buffer, message.type);
}

// Whether it needs a continuation.
inline bool needs_continuation(const Incoming& message, std::uint64_t bytes) {
  if (must_be_staged(message.on_device)) [[unlikely]]
    return bytes > 0 && message.source != MPI_PROC_NULL;
  return may_meet_frame(message, bytes);
}

// The buffer of a receive without a continuation.
inline void* plain_buffer(const Incoming& message) {
  return must_be_staged(message.on_device) ? untouched_buffer() : message.buffer;
}

}  // namespace thinwire::mpi
