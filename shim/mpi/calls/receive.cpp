// MPI_Recv and MPI_Irecv, and what other receives share with them.
#include <string>

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

// Where a message goes and the memory that it lands in first. Returns what went wrong, raised.
int prepare(const Incoming& message, std::uint64_t capacity, Destination& destination,
            Lease& wire) {
  const int error = find_destination(message, capacity, destination);
  if (error != MPI_SUCCESS) return error;
  wire = acquire_wire(message, capacity);
  return wire ? MPI_SUCCESS : raise(message.comm, MPI_ERR_NO_MEM);
}

// A blocking receive into scratch, delivered: `call(data, count, type, status)` is the MPI's.
template <typename Call>
int receive_through_scratch(const Incoming& message, std::uint64_t capacity, Call&& call,
                            MPI_Status* status) {
  Destination destination;
  Lease wire;
  int error = prepare(message, capacity, destination, wire);
  if (error != MPI_SUCCESS) return error;
  const ByteCount as(capacity);
  MPI_Status own{};  // stays empty where the MPI refuses the arguments
  error = call(wire.data(), as.count(), as.type(), &own);
  const int outcome = deliver(destination, wire, own, error);
  copy_status(own, status);
  return outcome;
}

int receive_hooked(const Incoming& message, std::uint64_t capacity, MPI_Status* status) {
  const auto call = [&](void* data, int count, MPI_Datatype type, MPI_Status* own) {
    return real().Recv(data, count, type, message.source, message.tag, message.comm, own);
  };
  return receive_through_scratch(message, capacity, call, status);
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

int find_destination(const Incoming& message, std::uint64_t capacity, Destination& destination) {
  destination.buffer = message.buffer;
  destination.count = message.count;
  destination.type = message.type;
  destination.capacity = capacity;
  destination.comm = message.comm;
  destination.dense = type_facts(message.type).dense;
  if (!message.on_device) return MPI_SUCCESS;
  destination.on_device = true;
  destination.may_be_frame = may_meet_frame(message, capacity);
  if (capacity == 0) return MPI_SUCCESS;
  int error = find_device(message.buffer, message.type, &destination.device);
  if (error == MPI_SUCCESS && !destination.dense) {
    destination.layout = layout_of(message.type);
    destination.first = const_cast<void*>(first_byte(message.buffer, message.type));
    if (!destination.layout) error = MPI_ERR_TYPE;
  }
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(message.comm, error);
}

Lease acquire_wire(const Incoming& message, std::uint64_t capacity) {
  if (!message.on_device) return process().pool.acquire(capacity);
  Lease wire = acquire_counted(TW_MEMORY_PINNED, -1, capacity);
  if (!wire) {
    tw_log(TW_LOG_ERROR,
           (std::string("no pinned memory for a receive: ") + tw_last_error()).c_str());
  }
  return wire;
}

int receive_stashed(Stashed& stashed, const Incoming& message, MPI_Status* status) {
  MPI_Status own{};
  const int error = real().Wait(&stashed.request, &own);
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) return bad;
  destination.may_be_frame = true;
  const int outcome = deliver(destination, stashed.wire, own, error);
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
  put_hook(*request, make_receive_hook(std::move(stashed->wire), destination));
  return MPI_SUCCESS;
}

int receive_matched(const Incoming& message, MPI_Message* handle, MPI_Status* status) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (capacity == 0 || *handle == MPI_MESSAGE_NO_PROC) {
    return real().Mrecv(untouched_buffer(), message.count, message.type, handle, status);
  }
  const auto call = [&](void* data, int count, MPI_Datatype type, MPI_Status* own) {
    return real().Mrecv(data, count, type, handle, own);
  };
  return receive_through_scratch(message, capacity, call, status);
}

int receive_matched_later(const Incoming& message, MPI_Message* handle, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (capacity == 0 || *handle == MPI_MESSAGE_NO_PROC) {
    return real().Imrecv(untouched_buffer(), message.count, message.type, handle, request);
  }
  Destination destination;
  Lease wire;
  int error = prepare(message, capacity, destination, wire);
  if (error != MPI_SUCCESS) return error;
  const ByteCount as(capacity);
  error = real().Imrecv(wire.data(), as.count(), as.type(), handle, request);
  if (error == MPI_SUCCESS) put_hook(*request, make_receive_hook(std::move(wire), destination));
  return error;
}

int nonblocking_receive(const Incoming& message, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool hooked = needs_hook(message, capacity);
  // Before the lock, which looking up a peer takes too.
  Destination destination;
  int error = hooked ? find_destination(message, capacity, destination) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  StashLock stash(message.comm, message.source);
  if (auto stashed = stash.take(message.source, message.tag)) {
    stash.release();
    return receive_stashed_later(std::move(stashed), message, request);
  }
  if (!hooked) {
    return real().Irecv(plain_buffer(message), message.count, message.type, message.source,
                        message.tag, message.comm, request);
  }
  Lease wire = acquire_wire(message, capacity);
  if (!wire) return raise(message.comm, MPI_ERR_NO_MEM);
  const ByteCount as(capacity);
  error = real().Irecv(wire.data(), as.count(), as.type(), message.source, message.tag,
                       message.comm, request);
  if (error == MPI_SUCCESS) {
    put_hook(*request, make_receive_hook(std::move(wire), destination));
  }
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
