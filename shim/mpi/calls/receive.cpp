// MPI_Recv, MPI_Irecv and the combined send-receives.
#include <optional>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "calls/nonblocking.h"
#include "peers/peers.h"
#include "peers/stash.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "requests/hooks.h"
#include "wire/deliver.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

Destination destination_of(const Incoming& message, std::uint64_t capacity) {
  return {message.buffer, message.count, message.type, capacity, message.comm};
}

int receive_hooked(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  const Lease wire = process().pool.acquire(capacity);
  if (!wire) return raise(message.comm, MPI_ERR_NO_MEM);
  const ByteCount as(capacity);
  MPI_Status own{};  // stays empty where the MPI refuses the arguments
  const int error = real().Recv(wire.data(), as.count(), as.type(), message.source, message.tag,
                                message.comm, &own);
  const int outcome = deliver(destination_of(message, capacity), wire, own, error);
  copy_status(own, status);
  return outcome;
}

// A blocking receive cannot be posted under a lock; started and waited for, it can.
int receive_in_two_steps(const Incoming& message, MPI_Status* status) {
  MPI_Request request;
  int error = nonblocking_receive(message, &request);
  if (error != MPI_SUCCESS) return error;
  const HookPointer hook = take_hook(request);
  MPI_Status own{};
  error = real().Wait(&request, &own);
  if (hook) error = finish(*hook, own, error);
  copy_status(own, status);
  return error;
}

int receive(const Incoming& message, MPI_Status* status) {
  if (may_be_pulled(message.comm, message.source)) return receive_in_two_steps(message, status);
  if (stashed_messages.load(std::memory_order_acquire) != 0) {
    if (auto stashed = take_stashed(message.comm, message.source, message.tag)) {
      return receive_stashed(*stashed, message, status);
    }
  }
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (needs_hook(message, capacity)) return receive_hooked(message, capacity, status);
  return real().Recv(message.buffer, message.count, message.type, message.source, message.tag,
                     message.comm, status);
}

}  // namespace

int receive_stashed(Stashed& stashed, const Incoming& message, MPI_Status* status) {
  MPI_Status own{};
  const int error = real().Wait(&stashed.request, &own);
  const Destination destination =
      destination_of(message, message_bytes(message.count, message.type));
  const int outcome = deliver(destination, stashed.wire, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_stashed_later(std::unique_ptr<Stashed> stashed, const Incoming& message,
                          MPI_Request* request) {
  *request = stashed->request;
  put_hook(*request,
           make_receive_hook(std::move(stashed->wire),
                             destination_of(message, message_bytes(message.count, message.type))));
  return MPI_SUCCESS;
}

int nonblocking_receive(const Incoming& message, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool hooked = needs_hook(message, capacity);
  StashLock stash(message.comm, message.source);
  if (auto stashed = stash.take(message.source, message.tag)) {
    return receive_stashed_later(std::move(stashed), message, request);
  }
  if (!hooked) {
    return real().Irecv(message.buffer, message.count, message.type, message.source, message.tag,
                        message.comm, request);
  }
  Lease wire = process().pool.acquire(capacity);
  if (!wire) return raise(message.comm, MPI_ERR_NO_MEM);
  const ByteCount as(capacity);
  const int error = real().Irecv(wire.data(), as.count(), as.type(), message.source, message.tag,
                                 message.comm, request);
  if (error == MPI_SUCCESS) {
    put_hook(*request, make_receive_hook(std::move(wire), destination_of(message, capacity)));
  }
  return error;
}

}  // namespace thinwire::mpi

extern "C" int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                        MPI_Comm comm, MPI_Status* status) {
  const int error = receive({buffer, count, type, source, tag, comm}, status);
  progress_orphans();
  return error;
}
THINWIRE_ALSO_PMPI(Recv);

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  return nonblocking_receive({buffer, count, type, source, tag, comm}, request);
}
THINWIRE_ALSO_PMPI(Irecv);

namespace {

// Takes back a receive whose send failed: left posted, it would take somebody else's message.
void withdraw(MPI_Request request) {
  const HookPointer hook = take_hook(request);
  real().Cancel(&request);
  real().Wait(&request, MPI_STATUS_IGNORE);
}

// A receive as the calls above would do it, and the send that `start_send(request)` starts. Both
// are complete before the receive is delivered.
template <typename StartSend>
int exchange(const Incoming& received, StartSend&& start_send, MPI_Status* status) {
  MPI_Request requests[2];
  int error = nonblocking_receive(received, &requests[0]);
  if (error != MPI_SUCCESS) return error;
  error = start_send(&requests[1]);
  if (error != MPI_SUCCESS) {
    withdraw(requests[0]);
    return error;
  }
  const HookPointer receive_hook = take_hook(requests[0]);
  const HookPointer send_hook = take_hook(requests[1]);
  MPI_Status own[2]{};
  const int together = real().Waitall(2, requests, own);
  int receive_error = together == MPI_ERR_IN_STATUS ? own[0].MPI_ERROR : together;
  const int send_error = together == MPI_ERR_IN_STATUS ? own[1].MPI_ERROR : together;
  if (receive_hook) receive_error = finish(*receive_hook, own[0], receive_error);
  copy_status(own[0], status);
  progress_orphans();
  return receive_error != MPI_SUCCESS ? receive_error : send_error;
}

bool receives_untouched(const Incoming& message) {
  return stashed_messages.load(std::memory_order_acquire) == 0 &&
         !may_be_pulled(message.comm, message.source) &&
         !needs_hook(message, message_bytes(message.count, message.type));
}

}  // namespace

extern "C" int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                            int destination, int send_tag, void* buffer, int count,
                            MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Status* status) {
  const Outgoing sent{send_buffer, send_count, send_type, destination, comm};
  const Incoming received{buffer, count, type, source, tag, comm};
  const bool raw = sends_raw_at_once(send_count, send_type, destination);
  if (raw && receives_untouched(received)) {
    return real().Sendrecv(send_buffer, send_count, send_type, destination, send_tag, buffer, count,
                           type, source, tag, comm, status);
  }
  const auto start_send = [&](MPI_Request* request) {
    return raw ? real().Isend(send_buffer, send_count, send_type, destination, send_tag, comm,
                              request)
               : start_large_send(real().Isend, sent, send_tag, request);
  };
  return exchange(received, start_send, status);
}
THINWIRE_ALSO_PMPI(Sendrecv);

extern "C" int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int destination,
                                    int send_tag, int source, int tag, MPI_Comm comm,
                                    MPI_Status* status) {
  const Incoming received{buffer, count, type, source, tag, comm};
  const bool raw = sends_raw_at_once(count, type, destination);
  if (raw && receives_untouched(received)) {
    return real().Sendrecv_replace(buffer, count, type, destination, send_tag, source, tag, comm,
                                   status);
  }
  // The incoming message may reach the buffer before the outgoing one has left it, so the outgoing
  // one leaves from its wire form or from a copy.
  std::optional<Wire> outgoing;
  if (!raw) outgoing = encode({buffer, count, type, destination, comm});
  const bool compressed = outgoing.has_value();
  if (!compressed) {
    const std::uint64_t bytes = message_bytes(count, type);
    outgoing = Wire{process().pool.acquire(bytes), bytes, bytes, 0};
    if (!outgoing->data) return raise(comm, MPI_ERR_NO_MEM);
    const int error = pack(buffer, count, type, outgoing->data.data(), bytes);
    if (error != MPI_SUCCESS) return raise(comm, error);
  }
  const auto start_send = [&](MPI_Request* request) {
    const ByteCount as(outgoing->bytes);
    const int error = real().Isend(outgoing->data.data(), as.count(), as.type(), destination,
                                   send_tag, comm, request);
    return compressed ? count_compressed(*outgoing, error) : error;
  };
  return exchange(received, start_send, status);
}
THINWIRE_ALSO_PMPI(Sendrecv_replace);
