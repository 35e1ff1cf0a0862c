// MPI_Send and its kin.
#include "shim/mpi/choose/message_kinds.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/encode.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

using BlockingSend = CountedCall<decltype(&PMPI_Send)>;

// A send whose wire message is given up before an error handler runs, which may leave the call by a
// jump: a send that failed reads no more.
class Sending final : UnderWay {
 public:
  explicit Sending(Wire& wire) : wire_(wire) { begin(); }

 private:
  void before_handler(int) override { wire_.data = Lease(); }
  Wire& wire_;
};

// `arguments`: the request of a non-blocking call.
template <typename Call, typename... Arguments>
int send_wire(Call call, const Outgoing& message, Wire& wire, int tag, Arguments... arguments) {
  const Sending sending(wire);
  if (wire.form == Wire::Form::kUsersType) {
    const void* data = wire.data ? wire.data.data() : untouched_buffer();
    return call(data, message.count, message.type, message.destination, tag, message.comm,
                arguments...);
  }
  const ByteCount as(wire.bytes);
  const int error = call(wire.data.data(), as.count(), as.type(), message.destination, tag,
                         message.comm, arguments...);
  if (error == MPI_SUCCESS && wire.form == Wire::Form::kFrame) observe_sent(wire.attempt);
  return error;
}

// The MPI refuses a datatype that is not committed, which packed bytes would hide; a message to
// nobody makes it look.
int let_mpi_check(const Outgoing& message) {
  if (message_bytes(message.count, message.type) == 0 || type_facts(message.type).dense) {
    return MPI_SUCCESS;
  }
  return real().Send(untouched_buffer(), message.count, message.type, MPI_PROC_NULL, 0,
                     message.comm);
}

int send_from_device(BlockingSend call, const Outgoing& message, int tag) {
  std::optional<Wire> wire;
  const int error = depart(message, false, wire);
  if (error != MPI_SUCCESS) return error;
  if (wire) return send_wire(call, message, *wire, tag);
  return call(message.buffer, message.count, message.type, message.destination, tag, message.comm);
}

// Starts a send that was planned, and so may be watched.
int start_watched(NonblockingSend call, const Outgoing& message, std::optional<Wire>& wire, int tag,
                  MPI_Request* request) {
  const int error = wire ? start_wire(call, message, *wire, tag, request)
                         : call(message.buffer, message.count, message.type, message.destination,
                                tag, message.comm, request);
  if (error == MPI_SUCCESS) watch_request(*request);
  return error;
}

int start_from_device(NonblockingSend call, const Outgoing& message, int tag,
                      MPI_Request* request) {
  std::optional<Wire> wire;
  const int error = depart(message, false, wire);
  if (error != MPI_SUCCESS) return error;
  return start_watched(call, message, wire, tag, request);
}

int blocking_send(BlockingSend call, const Outgoing& message, int tag) {
  if (message.on_device) [[unlikely]]
    return send_from_device(call, message, tag);
  if (!sends_raw_at_once(message.count, message.type, message.destination)) {
    note_blocking_send();
    if (auto wire = encode(message)) return send_wire(call, message, *wire, tag);
  }
  return call(message.buffer, message.count, message.type, message.destination, tag, message.comm);
}

}  // namespace

int depart(const Outgoing& message, bool must_copy, std::optional<Wire>& wire) {
  ++process().counters.device_messages;
  if (const int error = let_mpi_check(message); error != MPI_SUCCESS) return error;
  if (!sends_raw_at_once(message.count, message.type, message.destination)) {
    wire = encode(message);
  }
  if (wire || !(must_copy || must_be_staged(message.on_device))) return MPI_SUCCESS;
  return stage(message, wire);
}

int start_wire(NonblockingSend call, const Outgoing& message, Wire& wire, int tag,
               MPI_Request* request) {
  const int error = send_wire(call, message, wire, tag, request);
  if (error != MPI_SUCCESS || !wire.data) return error;
  if (!is_complete(*request)) {
    put_continuation(
        *request, std::make_unique<Continuation>(Continuation::Kind::kSend, std::move(wire.data)));
  }
  return MPI_SUCCESS;
}

int nonblocking_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request) {
  if (message.on_device) [[unlikely]]
    return start_from_device(call, message, tag, request);
  if (sends_raw_at_once(message.count, message.type, message.destination)) {
    return call(message.buffer, message.count, message.type, message.destination, tag, message.comm,
                request);
  }
  return start_large_send(call, message, tag, request);
}

int start_large_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request) {
  auto wire = encode(message);
  return start_watched(call, message, wire, tag, request);
}

}  // namespace thinwire::mpi

#define THINWIRE_BLOCKING_SEND(entry, Count, call, may_compress)                                  \
  extern "C" int MPI_##entry(const void* buffer, Count count, MPI_Datatype type, int destination, \
                             int tag, MPI_Comm comm) {                                            \
    return blocking_send(                                                                         \
        real().call,                                                                              \
        {buffer, count, type, destination, comm, on_device(buffer, count, type), may_compress},   \
        tag);                                                                                     \
  }                                                                                               \
  THINWIRE_ALSO_PMPI(entry)

#define THINWIRE_NONBLOCKING_SEND(entry, Count, call, may_compress)                               \
  extern "C" int MPI_##entry(const void* buffer, Count count, MPI_Datatype type, int destination, \
                             int tag, MPI_Comm comm, MPI_Request* request) {                      \
    return nonblocking_send(                                                                      \
        real().call,                                                                              \
        {buffer, count, type, destination, comm, on_device(buffer, count, type), may_compress},   \
        tag, request);                                                                            \
  }                                                                                               \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_BLOCKING_SEND, Send, true);
THINWIRE_BOTH_COUNTS(THINWIRE_BLOCKING_SEND, Rsend, true);
THINWIRE_BOTH_COUNTS(THINWIRE_NONBLOCKING_SEND, Isend, true);
THINWIRE_BOTH_COUNTS(THINWIRE_NONBLOCKING_SEND, Irsend, true);
// A probe must not complete a synchronous send, and the user sized the buffer of a buffered one.
THINWIRE_BOTH_COUNTS(THINWIRE_BLOCKING_SEND, Ssend, false);
THINWIRE_BOTH_COUNTS(THINWIRE_BLOCKING_SEND, Bsend, false);
THINWIRE_BOTH_COUNTS(THINWIRE_NONBLOCKING_SEND, Issend, false);
THINWIRE_BOTH_COUNTS(THINWIRE_NONBLOCKING_SEND, Ibsend, false);
