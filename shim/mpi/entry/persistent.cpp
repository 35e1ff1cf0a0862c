// MPI_Send_init, MPI_Recv_init, MPI_Start and what ends or cancels a request.
//
// The native persistent request that the MPI makes is never started: it is the user's handle, and
// the completion calls put the started operation in its place.
#include <memory>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/choose/watched.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/message/running.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/owned_types.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

class PersistentSend : public Persistent {
 public:
  PersistentSend(NonblockingSend call, const Outgoing& message, int tag)
      : call_(call), message_(message), tag_(tag) {
    message_.type = types_.own(message.type);
  }
  int start() override { return nonblocking_send(call_, message_, tag_, &active); }

 private:
  NonblockingSend call_;  // the send's mode
  Outgoing message_;
  int tag_;
  OwnedTypes types_;
};

class PersistentReceive : public Persistent {
 public:
  explicit PersistentReceive(const Incoming& message) : message_(message) {
    message_.type = types_.own(message.type);
  }
  int start() override { return nonblocking_receive(message_, &active); }

 private:
  Incoming message_;
  OwnedTypes types_;
};

int send_init(CountedCall<decltype(&PMPI_Send_init)> call, NonblockingSend start,
              const Outgoing& message, int tag, MPI_Request* request) {
  const bool staged = must_be_staged(message.on_device);
  const int error = call(staged ? untouched_buffer() : message.buffer, message.count, message.type,
                         message.destination, tag, message.comm, request);
  if (error != MPI_SUCCESS || !shim_is_active() || message.destination == MPI_PROC_NULL) {
    return error;
  }
  const bool large = message_bytes(message.count, message.type) >= thresholds.send;
  if (!staged && !(large && message.may_compress)) return error;
  add_persistent(*request, std::make_unique<PersistentSend>(start, message, tag));
  return error;
}

int receive_init(const Incoming& message, MPI_Request* request) {
  const int error = real().Recv_init(plain_buffer(message), message.count, message.type,
                                     message.source, message.tag, message.comm, request);
  if (error != MPI_SUCCESS || !shim_is_active()) return error;
  // Small ones too: a probe may have pulled their message out of the MPI when they are started.
  if (!must_be_staged(message.on_device) && !may_receive_compressed(message.comm, message.source)) {
    return error;
  }
  add_persistent(*request, std::make_unique<PersistentReceive>(message));
  return error;
}

// MPI forbids to free the request of a collective under way: Open MPI refuses it, and would not
// know the request that stands for a compressed one; MPICH 5 frees it.
constexpr bool refuses_collectives() {
#ifdef OPEN_MPI
  return true;
#else
  return false;
#endif
}

// The MPI raises the error if it refuses; the request is then what it was.
int free_natively(MPI_Request* request, ContinuationPointer continuation) {
  const MPI_Request freed = *request;
  put_continuation(freed, std::move(continuation));
  const int error = real().Request_free(request);
  if (error == MPI_SUCCESS) take_continuation(freed).reset();
  return error;
}

}  // namespace
}  // namespace thinwire::mpi

#define THINWIRE_SEND_INIT(entry, Count, call, start, may_compress)                               \
  extern "C" int MPI_##entry(const void* buffer, Count count, MPI_Datatype type, int destination, \
                             int tag, MPI_Comm comm, MPI_Request* request) {                      \
    return send_init(                                                                             \
        real().call, real().start,                                                                \
        {buffer, count, type, destination, comm, on_device(buffer, count, type), may_compress},   \
        tag, request);                                                                            \
  }                                                                                               \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_SEND_INIT, Send_init, Isend, true);
THINWIRE_BOTH_COUNTS(THINWIRE_SEND_INIT, Rsend_init, Irsend, true);
THINWIRE_BOTH_COUNTS(THINWIRE_SEND_INIT, Ssend_init, Issend, false);
THINWIRE_BOTH_COUNTS(THINWIRE_SEND_INIT, Bsend_init, Ibsend, false);

#define THINWIRE_RECEIVE_INIT(entry, Count, call)                                                 \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, int source, int tag,   \
                             MPI_Comm comm, MPI_Request* request) {                               \
    return receive_init({buffer, count, type, source, tag, comm, on_device(buffer, count, type)}, \
                        request);                                                                 \
  }                                                                                               \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_RECEIVE_INIT, Recv_init);

extern "C" int MPI_Start(MPI_Request* request) {
  Persistent* persistent = find_persistent(*request);
  return persistent == nullptr ? real().Start(request) : persistent->start();
}
THINWIRE_ALSO_PMPI(Start);

extern "C" int MPI_Startall(int count, MPI_Request requests[]) {
  if (live_persistent.load(std::memory_order_relaxed) == 0) {
    return real().Startall(count, requests);
  }
  for (int at = 0; at < count; ++at) {
    const int error = MPI_Start(&requests[at]);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(Startall);

extern "C" int MPI_Request_free(MPI_Request* request) {
  if (auto persistent = take_persistent(*request)) {
    int error = persistent->free_active();
    persistent.reset();
    if (error == MPI_SUCCESS) error = real().Request_free(request);
    progress_orphans();
    return error;
  }
  forget_watched(*request);
  if (ContinuationPointer continuation = take_continuation(*request)) {
    if (continuation->staged && !continuation->staged->may_be_freed()) {
      return free_natively(request, std::move(continuation));
    }
    keep_orphan(*request, std::move(continuation));
    *request = MPI_REQUEST_NULL;
    progress_orphans();
    return MPI_SUCCESS;
  }
  // MPI forbids it of collectives that are under way, and MPIs refuse it. Of the request that
  // stands for a compressed one the MPI would not know.
  if (is_running(*request)) {
    MPI_Request none = MPI_REQUEST_NULL;
    return real().Request_free(&none);
  }
  return real().Request_free(request);
}
THINWIRE_ALSO_PMPI(Request_free);

extern "C" int MPI_Cancel(MPI_Request* request) {
  Persistent* persistent = find_persistent(*request);
  return real().Cancel(persistent == nullptr ? request : &persistent->active);
}
THINWIRE_ALSO_PMPI(Cancel);
