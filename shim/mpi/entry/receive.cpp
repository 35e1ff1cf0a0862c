// MPI_Recv and MPI_Irecv, and what other receives share with them.
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/entry/receive_space.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_messages.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

// A blocking receive, delivered: `call(posted as, status)` is the MPI's.
template <typename Call>
int receive_and_deliver(const Incoming& message, std::uint64_t capacity, bool may_be_frame,
                        Call&& call, MPI_Status* status) {
  Destination destination;
  int error = find_destination(message, capacity, destination);
  if (error != MPI_SUCCESS) return error;
  destination.may_be_frame = destination.may_be_frame && may_be_frame;
  ReceiveSpace space;
  error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  MPI_Status own{};  // stays empty where the MPI refuses the arguments
  error = call(PostedAs(destination, space), &own);
  const int outcome = deliver(destination, space, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_continuationed(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Recv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       own);
  };
  return receive_and_deliver(message, capacity, true, call, status);
}

// A blocking receive cannot be posted under a lock; started and waited for, it can.
int receive_in_two_steps(const Incoming& message, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = nonblocking_receive(message, &request);
  if (error != MPI_SUCCESS || request == MPI_REQUEST_NULL) return error;
  const ContinuationPointer continuation = take_continuation(request);
  MPI_Status own{};
  error = real().Wait(&request, &own);
  if (continuation) error = finish(*continuation, own, error);
  copy_status(own, status);
  return error;
}

int receive(const Incoming& message, MPI_Status* status) {
  note_wait();
  // From nobody: Open MPI 5 looks at a revoked communicator in MPI_Recv, in MPI_Irecv it does not.
  if (message.source == MPI_PROC_NULL) {
    return real().Recv(plain_buffer(message), message.count, message.type, message.source,
                       message.tag, message.comm, status);
  }
  if (may_be_pulled()) return receive_in_two_steps(message, status);
  if (early_message_count.load(std::memory_order_acquire) != 0) {
    if (const auto early = take_early(message.comm, message.source, message.tag)) {
      return receive_early(*early, message, status);
    }
  }
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (needs_continuation(message, capacity))
    return receive_continuationed(message, capacity, status);
  return real().Recv(plain_buffer(message), message.count, message.type, message.source,
                     message.tag, message.comm, status);
}

// Memory that the MPI must not be given as it is: a GPU's, or bytes of an active receive.
bool may_be_shared(const Incoming& message) {
  return message.on_device ? must_be_staged(true) : process().in_place.reservations() != 0;
}

// As the MPI would receive it: nothing to decode, and nobody else's bytes.
bool is_plain(const Incoming& message, std::uint64_t capacity, bool may_be_frame,
              MPI_Message handle) {
  return capacity == 0 || handle == MPI_MESSAGE_NO_PROC ||
         (!may_be_frame && !may_be_shared(message));
}

int receive_by_handle(const Incoming& message, bool may_be_frame, MPI_Message* handle,
                      MPI_Status* status) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (is_plain(message, capacity, may_be_frame, *handle)) {
    return real().Mrecv(plain_buffer(message), message.count, message.type, handle, status);
  }
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Mrecv(as.data(), as.count(), as.type(), handle, own);
  };
  return receive_and_deliver(message, capacity, may_be_frame, call, status);
}

int receive_by_handle_later(const Incoming& message, const std::shared_ptr<EarlyMessage>& early,
                            MPI_Message* handle, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool may_be_frame = early && early->may_be_frame();
  if (is_plain(message, capacity, may_be_frame, *handle)) {
    if (early) early->received(0);  // nobody looks at it any more
    return real().Imrecv(plain_buffer(message), message.count, message.type, handle, request);
  }
  Destination destination;
  int error = find_destination(message, capacity, destination);
  if (error != MPI_SUCCESS) return error;
  destination.may_be_frame = may_be_frame;
  ReceiveSpace space;
  error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  const PostedAs as(destination, space);
  error = real().Imrecv(as.data(), as.count(), as.type(), handle, request);
  if (error != MPI_SUCCESS) return error;
  ContinuationPointer continuation = make_receive_continuation(std::move(space), destination);
  continuation->early = early;
  put_continuation(*request, std::move(continuation));
  return error;
}

// One whose size was asked for.
int receive_from_scratch(EarlyMessage::Taken taken, const Incoming& message, MPI_Status* status) {
  MPI_Status own{};
  const int error = real().Wait(&taken.request, &own);
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) return bad;
  destination.may_be_frame = true;
  ReceiveSpace space{std::move(taken.wire), {}};
  if (!destination.on_device) ++process().counters.receives_through_scratch;
  const int outcome = deliver(destination, space, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_from_scratch_later(EarlyMessage::Taken taken,
                               const std::shared_ptr<EarlyMessage>& early, const Incoming& message,
                               MPI_Request* request) {
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) {
    real().Wait(&taken.request, MPI_STATUS_IGNORE);  // it writes to scratch until then
    return bad;
  }
  destination.may_be_frame = true;
  *request = taken.request;
  if (!destination.on_device) ++process().counters.receives_through_scratch;
  ContinuationPointer continuation =
      make_receive_continuation({std::move(taken.wire), {}}, destination);
  continuation->early = early;
  put_continuation(*request, std::move(continuation));
  return MPI_SUCCESS;
}

}  // namespace

int receive_early(EarlyMessage& early, const Incoming& message, MPI_Status* status) {
  EarlyMessage::Taken taken = early.take();
  MPI_Status own{};
  const int error = taken.in_scratch
                        ? receive_from_scratch(std::move(taken), message, &own)
                        : receive_by_handle(message, early.may_be_frame(), &taken.handle, &own);
  early.received(wire_bytes_of(own));
  copy_status(own, status);
  return error;
}

int receive_early_later(const std::shared_ptr<EarlyMessage>& early, const Incoming& message,
                        MPI_Request* request) {
  EarlyMessage::Taken taken = early->take();
  const int error = taken.in_scratch
                        ? receive_from_scratch_later(std::move(taken), early, message, request)
                        : receive_by_handle_later(message, early, &taken.handle, request);
  if (error == MPI_SUCCESS) {
    early->wait_at(*request);
  } else {
    early->received(0);
  }
  return error;
}

int receive_matched(const Incoming& message, MPI_Message* handle, MPI_Status* status) {
  return receive_by_handle(message, false, handle, status);
}

int receive_matched_later(const Incoming& message, MPI_Message* handle, MPI_Request* request) {
  return receive_by_handle_later(message, nullptr, handle, request);
}

int nonblocking_receive(const Incoming& message, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool inspected = needs_continuation(message, capacity);
  // Before the guard, which the error handler may need.
  Destination destination;
  ReceiveSpace space;
  int error = inspected ? find_destination(message, capacity, destination) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  if (inspected) error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  PostGuard guard(may_be_pulled());
  if (early_message_count.load(std::memory_order_acquire) != 0) {
    if (const auto early = take_early(message.comm, message.source, message.tag)) {
      guard.release();
      space.reservation.end();
      return receive_early_later(early, message, request);
    }
  }
  if (!inspected) {
    return real().Irecv(plain_buffer(message), message.count, message.type, message.source,
                        message.tag, message.comm, request);
  }
  const PostedAs as(destination, space);
  // MPICH reports success, and makes no request, once a handler has returned from what it refused.
  MPI_Request own = MPI_REQUEST_NULL;
  error = real().Irecv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       &own);
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
