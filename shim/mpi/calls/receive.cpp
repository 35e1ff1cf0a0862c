// MPI_Recv and MPI_Irecv, and what other receives share with them.
#include "abi/datatypes.h"
#include "abi/real.h"
#include "calls/landing.h"
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

// A blocking receive, delivered: `call(posted as, status)` is the MPI's.
template <typename Call>
int receive_and_deliver(const Incoming& message, std::uint64_t capacity, bool may_be_frame,
                        Call&& call, MPI_Status* status) {
  Destination destination;
  int error = find_destination(message, capacity, destination);
  if (error != MPI_SUCCESS) return error;
  destination.may_be_frame = destination.may_be_frame && may_be_frame;
  Landing landing;
  error = find_landing(destination, landing);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  MPI_Status own{};  // stays empty where the MPI refuses the arguments
  error = call(PostedAs(destination, landing), &own);
  const int outcome = deliver(destination, landing, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_hooked(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Recv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       own);
  };
  return receive_and_deliver(message, capacity, true, call, status);
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
  return real().Recv(plain_buffer(message), message.count, message.type, message.source,
                     message.tag, message.comm, status);
}

}  // namespace

int receive_stashed(Stashed& stashed, const Incoming& message, MPI_Status* status) {
  MPI_Status own{};
  const int error = real().Wait(&stashed.request, &own);
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) return bad;
  destination.may_be_frame = true;
  Landing landing{std::move(stashed.wire), {}};
  if (!destination.on_device) ++process().counters.receives_through_scratch;
  const int outcome = deliver(destination, landing, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_stashed_later(std::unique_ptr<Stashed> stashed, const Incoming& message,
                          MPI_Request* request) {
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) {
    real().Wait(&stashed->request, MPI_STATUS_IGNORE);  // it writes to scratch until then
    return bad;
  }
  destination.may_be_frame = true;
  *request = stashed->request;
  if (!destination.on_device) ++process().counters.receives_through_scratch;
  put_hook(*request, make_receive_hook({std::move(stashed->wire), {}}, destination));
  return MPI_SUCCESS;
}

int receive_matched(const Incoming& message, MPI_Message* handle, MPI_Status* status) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (capacity == 0 || *handle == MPI_MESSAGE_NO_PROC) {
    return real().Mrecv(untouched_buffer(), message.count, message.type, handle, status);
  }
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Mrecv(as.data(), as.count(), as.type(), handle, own);
  };
  return receive_and_deliver(message, capacity, message.on_device, call, status);
}

int receive_matched_later(const Incoming& message, MPI_Message* handle, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (capacity == 0 || *handle == MPI_MESSAGE_NO_PROC) {
    return real().Imrecv(untouched_buffer(), message.count, message.type, handle, request);
  }
  Destination destination;
  int error = find_destination(message, capacity, destination);
  if (error != MPI_SUCCESS) return error;
  destination.may_be_frame = destination.may_be_frame && message.on_device;
  Landing landing;
  error = find_landing(destination, landing);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  const PostedAs as(destination, landing);
  error = real().Imrecv(as.data(), as.count(), as.type(), handle, request);
  if (error == MPI_SUCCESS) put_hook(*request, make_receive_hook(std::move(landing), destination));
  return error;
}

int nonblocking_receive(const Incoming& message, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool hooked = needs_hook(message, capacity);
  // Before the lock, which looking up a peer takes too, and under which no error is raised.
  Destination destination;
  Landing landing;
  int error = hooked ? find_destination(message, capacity, destination) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  if (hooked) error = find_landing(destination, landing);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  StashLock stash(message.comm, message.source);
  if (auto stashed = stash.take(message.source, message.tag)) {
    stash.release();
    landing.claim.end();
    return receive_stashed_later(std::move(stashed), message, request);
  }
  if (!hooked) {
    return real().Irecv(plain_buffer(message), message.count, message.type, message.source,
                        message.tag, message.comm, request);
  }
  const PostedAs as(destination, landing);
  error = real().Irecv(as.data(), as.count(), as.type(), message.source, message.tag, message.comm,
                       request);
  stash.release();
  if (error == MPI_SUCCESS) put_hook(*request, make_receive_hook(std::move(landing), destination));
  return error;
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
