// MPI_Recv and MPI_Irecv, and what other receives share with them.
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/entry/receive_space.h"
#include "shim/mpi/entry/receiving.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_messages.h"
#include "shim/mpi/message/length.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

int receive_plainly(const Incoming& message, MPI_Status* status) {
  return real().Recv(plain_buffer(message), message.count, message.type, message.source,
                     message.tag, message.comm, status);
}

int receive_continuationed(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Recv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       own);
  };
  return receive_and_deliver(message, capacity, true, call, status);
}

// A type whose blocks are not listed is received in scratch memory, and unpacked only after all has
// come. What a message's length shows to be raw needs none of that.
bool asks_for_length(const Incoming& message) {
  return !message.on_device && !type_facts(message.type).dense && is_usable(message.type) &&
         puts_off_list(message.type);
}

// No other thread receives meanwhile (may_be_pulled()), so what is seen is what comes. It is not
// matched first: if MPI_Mrecv fails, MPICH calls no handler of this communicator.
int receive_by_length(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  MPI_Status seen{};
  seen.MPI_SOURCE = MPI_ANY_SOURCE;
  const int error = real().Probe(message.source, message.tag, message.comm, &seen);
  // MPICH reports success, and has seen nothing, once a handler has returned from what it refused.
  if (error != MPI_SUCCESS || seen.MPI_SOURCE == MPI_ANY_SOURCE) return error;
  Incoming first = message;
  first.source = seen.MPI_SOURCE;
  first.tag = seen.MPI_TAG;
  if (is_suspicious(wire_bytes_of(seen)) || process().in_place.reservations() != 0)
    return receive_continuationed(first, capacity, status);
  return receive_plainly(first, status);
}

// A blocking receive cannot be posted under a lock; started and waited for, it can.
int receive_in_two_steps(const Incoming& message, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = nonblocking_receive(message, &request);
  if (error != MPI_SUCCESS || request == MPI_REQUEST_NULL) return error;
  return complete_receive(request, status);
}

int receive(const Incoming& message, MPI_Status* status) {
  note_wait();
  // From nobody: Open MPI 5 looks at a revoked communicator in MPI_Recv, in MPI_Irecv it does not.
  if (message.source == MPI_PROC_NULL) return receive_plainly(message, status);
  if (may_be_pulled()) return receive_in_two_steps(message, status);
  if (early_message_count.load(std::memory_order_acquire) != 0) {
    if (auto early = take_early(message.comm, message.source, message.tag)) {
      return receive_early(std::move(early), message, status);
    }
  }
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (needs_continuation(message, capacity)) {
    if (asks_for_length(message)) return receive_by_length(message, capacity, status);
    return receive_continuationed(message, capacity, status);
  }
  return receive_plainly(message, status);
}

}  // namespace

int nonblocking_receive(const Incoming& message, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool inspected = needs_continuation(message, capacity);
  // Before the guard, which the error handler may need.
  Destination destination;
  ReceiveSpace space;
  int error = inspected ? find_destination(message, capacity, destination) : MPI_SUCCESS;
  if (inspected && error == MPI_SUCCESS) error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  PostGuard guard(may_be_pulled());
  if (early_message_count.load(std::memory_order_acquire) != 0) {
    if (auto early = take_early(message.comm, message.source, message.tag)) {
      guard.release();
      space.reservation.end();
      space.wire = Lease();
      return receive_early_later(std::move(early), message, request);
    }
  }
  if (!inspected) {
    return real().Irecv(plain_buffer(message), message.count, message.type, message.source,
                        message.tag, message.comm, request);
  }
  const PostedAs as(destination, space);
  Receiving receiving(destination, space);
  // MPICH reports success, and makes no request, once a handler has returned from what it refused.
  MPI_Request own = MPI_REQUEST_NULL;
  error = real().Irecv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       &own);
  receiving.end();
  guard.release();
  if (error != MPI_SUCCESS || own == MPI_REQUEST_NULL) return error;
  *request = own;
  put_continuation(own, make_receive_continuation(std::move(space), destination));
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi

#define THINWIRE_RECEIVE(entry, Count, call)                                                       \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, int source, int tag,    \
                             MPI_Comm comm, MPI_Status* status) {                                  \
    const int error =                                                                              \
        receive({buffer, count, type, source, tag, comm, on_device(buffer, count, type)}, status); \
    progress_orphans();                                                                            \
    return error;                                                                                  \
  }                                                                                                \
  THINWIRE_ALSO_PMPI(entry)

#define THINWIRE_NONBLOCKING_RECEIVE(entry, Count, call)                                        \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, int source, int tag, \
                             MPI_Comm comm, MPI_Request* request) {                             \
    return nonblocking_receive(                                                                 \
        {buffer, count, type, source, tag, comm, on_device(buffer, count, type)}, request);     \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_RECEIVE, Recv);
THINWIRE_BOTH_COUNTS(THINWIRE_NONBLOCKING_RECEIVE, Irecv);
