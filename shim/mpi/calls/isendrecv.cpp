// MPI_Isendrecv and MPI_Isendrecv_replace of MPI 4: the MPI's own call on what travels, so that the
// user's one request is the MPI's.
#include <optional>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "calls/exchange.h"
#include "calls/landing.h"
#include "calls/nonblocking.h"
#include "peers/stash.h"
#include "process/shortcut.h"
#include "requests/hooks.h"
#include "wire/device.h"

using namespace thinwire::mpi;

namespace {

// What leaves: the user's buffer, or its wire form.
struct Departure {
  const void* data;
  MPI_Count count;
  MPI_Datatype type;
};

Departure departure_of(const Outgoing& sent, const std::optional<Wire>& wire,
                       const std::optional<ByteCount>& as) {
  if (!wire) return {sent.buffer, sent.count, sent.type};
  if (as) return {wire->data.data(), as->count(), as->type()};
  return {wire->data ? wire->data.data() : untouched_buffer(), sent.count, sent.type};
}

// A message that a probe pulled is delivered now: it is matched and on its way, so its arrival
// depends on nothing that the user has yet to do. What is left of the request is the send.
HookPointer receive_now(Stashed& stashed, const Incoming& received) {
  auto hook = std::make_unique<Hook>(Hook::Kind::kReceive, Lease());
  hook->error = receive_stashed(stashed, received, &hook->status);
  hook->delivered = true;
  return hook;
}

int start_both(const Outgoing& sent, int send_tag, const Incoming& received,
               std::optional<Wire>& wire, MPI_Request* request) {
  std::optional<ByteCount> as;
  if (wire && wire->form != Wire::Form::kUsersType) as.emplace(wire->bytes);
  const Departure leaving = departure_of(sent, wire, as);
  const auto call = [&](void* data, MPI_Count count, MPI_Datatype type, int source) {
    return real().Isendrecv(leaving.data, leaving.count, leaving.type, sent.destination, send_tag,
                            data, count, type, source, received.tag, received.comm, request);
  };
  const std::uint64_t capacity = message_bytes(received.count, received.type);
  const bool hooked = needs_hook(received, capacity);
  // Before the lock, which looking up a peer takes too.
  Destination destination;
  Landing landing;
  int error = hooked ? find_destination(received, capacity, destination) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  if (hooked) error = find_landing(destination, landing);
  if (error != MPI_SUCCESS) return raise(received.comm, error);
  HookPointer hook;
  StashLock stash(received.comm, received.source);
  if (auto stashed = stash.take(received.source, received.tag)) {
    stash.release();
    landing.claim.end();
    hook = receive_now(*stashed, received);
    error = call(untouched_buffer(), 0, MPI_BYTE, MPI_PROC_NULL);
  } else if (hooked) {
    const PostedAs posted(destination, landing);
    error = call(posted.data(), posted.count(), posted.type(), received.source);
    hook = make_receive_hook(std::move(landing), destination);
  } else {
    error = call(plain_buffer(received), received.count, received.type, received.source);
    if (wire) hook = std::make_unique<Hook>(Hook::Kind::kSend, Lease());
  }
  if (wire) count_sent(*wire, error);
  if (error != MPI_SUCCESS || !hook) return error;
  if (wire) hook->sent = std::move(wire->data);
  put_hook(*request, std::move(hook));
  return MPI_SUCCESS;
}

int start_exchange(const Outgoing& sent, int send_tag, const Incoming& received,
                   MPI_Request* request) {
  const bool raw = !sent.on_device && sends_raw_at_once(sent.count, sent.type, sent.destination);
  if (raw && receives_untouched(received)) {
    return real().Isendrecv(sent.buffer, sent.count, sent.type, sent.destination, send_tag,
                            received.buffer, received.count, received.type, received.source,
                            received.tag, received.comm, request);
  }
  std::optional<Wire> wire;
  if (sent.on_device) {
    const int error = depart(sent, false, wire);
    if (error != MPI_SUCCESS) return error;
  } else if (!raw) {
    wire = encode(sent);
  }
  return start_both(sent, send_tag, received, wire, request);
}

int start_replacement(const Outgoing& sent, int send_tag, const Incoming& received,
                      MPI_Request* request) {
  const bool raw = !sent.on_device && sends_raw_at_once(sent.count, sent.type, sent.destination);
  if (raw && receives_untouched(received)) {
    return real().Isendrecv_replace(received.buffer, received.count, received.type,
                                    sent.destination, send_tag, received.source, received.tag,
                                    received.comm, request);
  }
  std::optional<Wire> wire;
  const int error = sent.on_device ? depart(sent, true, wire) : copy_outgoing(sent, raw, wire);
  return error != MPI_SUCCESS ? error : start_both(sent, send_tag, received, wire, request);
}

}  // namespace

#define THINWIRE_ISENDRECV(entry, Count, call)                                                  \
  extern "C" int MPI_##entry(const void* send_buffer, Count send_count, MPI_Datatype send_type, \
                             int destination, int send_tag, void* buffer, Count count,          \
                             MPI_Datatype type, int source, int tag, MPI_Comm comm,             \
                             MPI_Request* request) {                                            \
    return start_exchange(                                                                      \
        {send_buffer, send_count, send_type, destination, comm,                                 \
         on_device(send_buffer, send_count, send_type)},                                        \
        send_tag, {buffer, count, type, source, tag, comm, on_device(buffer, count, type)},     \
        request);                                                                               \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(entry)

#define THINWIRE_ISENDRECV_REPLACE(entry, Count, call)                                      \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, int destination, \
                             int send_tag, int source, int tag, MPI_Comm comm,              \
                             MPI_Request* request) {                                        \
    const bool gpu = on_device(buffer, count, type);                                        \
    return start_replacement({buffer, count, type, destination, comm, gpu}, send_tag,       \
                             {buffer, count, type, source, tag, comm, gpu}, request);       \
  }                                                                                         \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_ISENDRECV, Isendrecv);
THINWIRE_BOTH_COUNTS(THINWIRE_ISENDRECV_REPLACE, Isendrecv_replace);
