// MPI_Isendrecv and MPI_Isendrecv_replace of MPI 4.
//
// MPICH leaves the status of its own such requests unset, and without the length of what arrived
// nothing can be decoded. So the user's request is a receive; the send leaves from memory of the
// library, as a buffered one would, and nobody has to wait for it.
#include <optional>

#include "shim/mpi/choose/message_kinds.h"
#include "shim/mpi/entry/exchange.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/real.h"

using namespace thinwire::mpi;

namespace {

// Whoever completes requests next looks after it, MPI_Finalize at the latest.
void let_go(MPI_Request send) {
  if (ContinuationPointer continuation = take_continuation(send)) {
    keep_orphan(send, std::move(continuation));
  } else {
    real().Wait(&send, MPI_STATUS_IGNORE);  // it was complete when it was started
  }
}

int start_both(const Outgoing& sent, int send_tag, const Incoming& received, bool raw,
               MPI_Request* request) {
  std::optional<Wire> wire;
  int error = copy_outgoing(sent, raw, wire);
  if (error != MPI_SUCCESS || !passes_check(sent, send_tag, error)) return error;
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  error = nonblocking_receive(received, &receive);
  if (error != MPI_SUCCESS || receive == MPI_REQUEST_NULL) return error;
  PostedReceive posted(receive);
  error = start_wire(real().Isend, sent, *wire, send_tag, &send);
  posted.end();
  if (error != MPI_SUCCESS || send == MPI_REQUEST_NULL) {
    posted.withdraw();
    return error;
  }
  let_go(send);
  *request = receive;
  watch_request(receive);  // all that the program sees
  progress_orphans();
  return MPI_SUCCESS;
}

int start_exchange(const Outgoing& sent, int send_tag, const Incoming& received,
                   MPI_Request* request) {
  const bool raw = sends_untouched(sent);
  if (!raw || !receives_untouched(received)) {
    return start_both(sent, send_tag, received, raw, request);
  }
  return real().Isendrecv(sent.buffer, sent.count, sent.type, sent.destination, send_tag,
                          received.buffer, received.count, received.type, received.source,
                          received.tag, received.comm, request);
}

int start_replacement(const Outgoing& sent, int send_tag, const Incoming& received,
                      MPI_Request* request) {
  const bool raw = sends_untouched(sent);
  if (!raw || !receives_untouched(received)) {
    return start_both(sent, send_tag, received, raw, request);
  }
  return real().Isendrecv_replace(received.buffer, received.count, received.type, sent.destination,
                                  send_tag, received.source, received.tag, received.comm, request);
}

}  // namespace

THINWIRE_BOTH_COUNTS(THINWIRE_EXCHANGE, Isendrecv, MPI_Request, start_exchange);
THINWIRE_BOTH_COUNTS(THINWIRE_REPLACEMENT, Isendrecv_replace, MPI_Request, start_replacement);
