// MPI_Send_init, MPI_Recv_init, MPI_Start and what ends or cancels a request.
//
// The native persistent request that the MPI makes is never started: it is the user's handle, and
// the completion calls put the started operation in its place.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "peers/peers.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "requests/hooks.h"
#include "requests/persistent.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {

std::atomic<std::uint64_t> live_persistent{0};

namespace {

std::mutex g_mutex;
std::unordered_map<MPI_Request, std::unique_ptr<Persistent>> g_persistent;

// A derived type may be freed by the user between starts.
MPI_Datatype keep_type(MPI_Datatype type) {
  MPI_Datatype kept = type;
  real().Type_dup(type, &kept);
  return kept;
}

void add_persistent(MPI_Request token, Persistent persistent) {
  persistent.active = MPI_REQUEST_NULL;
  const std::lock_guard lock(g_mutex);
  g_persistent[token] = std::make_unique<Persistent>(persistent);
  live_persistent.store(g_persistent.size(), std::memory_order_relaxed);
}

std::unique_ptr<Persistent> take_persistent(MPI_Request token) {
  const std::lock_guard lock(g_mutex);
  const auto found = g_persistent.find(token);
  if (found == g_persistent.end()) return nullptr;
  auto persistent = std::move(found->second);
  g_persistent.erase(found);
  live_persistent.store(g_persistent.size(), std::memory_order_relaxed);
  return persistent;
}

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
  Persistent persistent{true, start, message, {}, tag, {}};
  persistent.outgoing.type = keep_type(message.type);
  add_persistent(*request, persistent);
  return error;
}

int receive_init(const Incoming& message, MPI_Request* request) {
  const int error = real().Recv_init(plain_buffer(message), message.count, message.type,
                                     message.source, message.tag, message.comm, request);
  if (error != MPI_SUCCESS || !shim_is_active()) return error;
  // Small ones too: a probe may have pulled their message into a stash when they are started.
  if (!must_be_staged(message.on_device) && !may_receive_compressed(message.comm, message.source)) {
    return error;
  }
  Persistent persistent{false, {}, {}, message, message.tag, {}};
  persistent.incoming.type = keep_type(message.type);
  add_persistent(*request, persistent);
  return error;
}

int start(Persistent& persistent) {
  if (persistent.is_send) {
    return nonblocking_send(persistent.send_call, persistent.outgoing, persistent.tag,
                            &persistent.active);
  }
  return nonblocking_receive(persistent.incoming, &persistent.active);
}

// The request's operation goes on; nobody will ask for its end.
int free_active(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  if (HookPointer hook = take_hook(request)) {
    adopt_orphan(request, std::move(hook));
    return MPI_SUCCESS;
  }
  return real().Request_free(&request);
}

}  // namespace

Persistent* find_persistent(MPI_Request token) {
  if (live_persistent.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(g_mutex);
  const auto found = g_persistent.find(token);
  return found == g_persistent.end() ? nullptr : found->second.get();
}

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
  return persistent == nullptr ? real().Start(request) : start(*persistent);
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
    real().Type_free(persistent->is_send ? &persistent->outgoing.type : &persistent->incoming.type);
    const int error = free_active(persistent->active);
    return error == MPI_SUCCESS ? real().Request_free(request) : error;
  }
  if (HookPointer hook = take_hook(*request)) {
    adopt_orphan(*request, std::move(hook));
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return real().Request_free(request);
}
THINWIRE_ALSO_PMPI(Request_free);

extern "C" int MPI_Cancel(MPI_Request* request) {
  Persistent* persistent = find_persistent(*request);
  return real().Cancel(persistent == nullptr ? request : &persistent->active);
}
THINWIRE_ALSO_PMPI(Cancel);
