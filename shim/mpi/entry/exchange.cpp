// MPI_Sendrecv and MPI_Sendrecv_replace.
#include <memory>
#include <optional>
#include <utility>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/choose/watched.h"
#include "shim/mpi/entry/exchange.h"
#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/completion.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {

bool sends_untouched(const Outgoing& message) {
  return !message.on_device && sends_raw_at_once(message.count, message.type, message.destination);
}

int copy_outgoing(const Outgoing& message, bool raw, std::optional<Wire>& wire) {
  if (message.on_device) return depart(message, true, wire);
  if (!raw) wire = encode(message);
  if (wire) return MPI_SUCCESS;
  const std::uint64_t bytes = message_bytes(message.count, message.type);
  wire = Wire{Wire::Form::kBytes, process().pool.acquire(bytes), bytes, bytes};
  if (!wire->data) return raise(message.comm, MPI_ERR_NO_MEM);
  const int error = pack(message.buffer, message.count, message.type, wire->data.data(), bytes);
  if (error == MPI_SUCCESS) return error;
  wire.reset();
  return raise(message.comm, error);
}

bool receives_untouched(const Incoming& message) {
  return !message.on_device && early_message_count.load(std::memory_order_acquire) == 0 &&
         !may_be_pulled() &&
         !needs_continuation(message, message_bytes(message.count, message.type));
}

void PostedReceive::withdraw() {
  end();
  if (request_ == MPI_REQUEST_NULL) return;
  const ContinuationPointer continuation = take_continuation(request_);
  real().Cancel(&request_);
  real().Wait(&request_, MPI_STATUS_IGNORE);
}

namespace {

// MPI_TAG_UB is that much at least.
constexpr int kEveryTag = 32767;

// So that most sends need no look: MPI_Request_free() of MPICH 4.0 drives the network without its
// lock, beside what other threads do there. A type that is not committed shows when the send
// starts.
bool is_plainly_right(const Outgoing& message, int tag) {
  return message.count > 0 && message.type != MPI_DATATYPE_NULL && tag >= 0 && tag <= kEveryTag &&
         peer_of(message.comm, message.destination).place != TW_PEER_UNKNOWN;
}

}  // namespace

bool passes_check(const Outgoing& message, int tag, int& error) {
  if (is_plainly_right(message, tag)) return true;
  MPI_Request request = MPI_REQUEST_NULL;
  error = real().Send_init(untouched_buffer(), message.count, message.type, message.destination,
                           tag, message.comm, &request);
  if (error != MPI_SUCCESS || request == MPI_REQUEST_NULL) return false;
  real().Request_free(&request);
  return true;
}

}  // namespace thinwire::mpi

namespace {

// The requests of an exchange under way, of which the program does not know: what an error handler
// leaves by a jump goes on as requests do that a program has freed.
class LettingGo final : UnderWay {
 public:
  explicit LettingGo(MPI_Request* requests) : requests_(requests) { begin(); }
  bool has_any() const { return left_ != MPI_REQUEST_NULL; }

  // A handler that ran has returned: the one that is not complete is to be waited for after all.
  int wait_for_left() {
    const ContinuationPointer continuation = reclaim_orphan(left_);
    if (!continuation) return MPI_SUCCESS;
    MPI_Status status{};
    const int error = real().Wait(&left_, &status);
    return settle(*continuation, status, error).error;
  }

 private:
  void before_handler(int) override {
    for (int at = 0; at < 2; ++at) {
      MPI_Request& request = requests_[at];
      if (request == MPI_REQUEST_NULL) continue;
      ContinuationPointer continuation = take_continuation(request);
      if (!continuation) {
        continuation = std::make_unique<Continuation>(Continuation::Kind::kSend, Lease());
      }
      left_ = std::exchange(request, MPI_REQUEST_NULL);
      keep_orphan(left_, std::move(continuation));
    }
  }
  MPI_Request* requests_;
  MPI_Request left_ = MPI_REQUEST_NULL;
};

// Waits for a receive and a send.
int complete_both(MPI_Request (&requests)[2], bool from_nobody, MPI_Status* status) {
  LettingGo letting_go(requests);
  Completion::ForMany space;
  Completion completion(2, requests, space);
  MPI_Status* const native = completion.statuses();
  int errors[2] = {MPI_SUCCESS, MPI_SUCCESS};
  // One by one: where a communicator is revoked, MPI_Waitall() of Open MPI 5 frees sends that are
  // under way, and ends the program when they fail.
  for (int at = 0; at < 2 && !letting_go.has_any(); ++at) {
    MPI_Status* const user = at == 0 ? status : MPI_STATUS_IGNORE;
    completion.is_told({.native = &native[at], .users = user, .indices = &at});
    const int sends = at;
    const WatchedAmong watched(sends, &completion.requests()[1]);
    const int error = real().Wait(&completion.requests()[at], &native[at]);
    if (at == 0 && from_nobody) {
      // MPICH 4.0 says nothing of a receive from nobody.
      native[at].MPI_SOURCE = MPI_PROC_NULL;
      native[at].MPI_TAG = MPI_ANY_TAG;
    }
    errors[at] = completion.complete(at, native[at], error, user);
  }
  if (letting_go.has_any()) errors[1] = letting_go.wait_for_left();
  return errors[0] != MPI_SUCCESS ? errors[0] : errors[1];
}

// A receive as the calls above would do it, and the send that `start_send(request)` starts. Both
// are complete before the receive is delivered. A send that the MPI refuses must not have posted a
// receive: until it is withdrawn it could take a later message.
template <typename StartSend>
int exchange(const Outgoing& sent, int send_tag, const Incoming& received, StartSend&& start_send,
             MPI_Status* status) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int error = MPI_SUCCESS;
  if (!passes_check(sent, send_tag, error)) return error;
  error = nonblocking_receive(received, &requests[0]);
  if (error != MPI_SUCCESS || requests[0] == MPI_REQUEST_NULL) return error;
  PostedReceive posted(requests[0]);
  error = start_send(&requests[1]);
  posted.end();
  if (error != MPI_SUCCESS || requests[1] == MPI_REQUEST_NULL) {
    posted.withdraw();
    return error;
  }
  error = complete_both(requests, received.source == MPI_PROC_NULL, status);
  progress_orphans();
  return error;
}

int send_and_receive(const Outgoing& sent, int send_tag, const Incoming& received,
                     MPI_Status* status) {
  note_wait();
  const bool raw = sends_untouched(sent);
  if (raw && receives_untouched(received)) {
    return real().Sendrecv(sent.buffer, sent.count, sent.type, sent.destination, send_tag,
                           received.buffer, received.count, received.type, received.source,
                           received.tag, received.comm, status);
  }
  const auto start_send = [&](MPI_Request* request) {
    return raw ? real().Isend(sent.buffer, sent.count, sent.type, sent.destination, send_tag,
                              sent.comm, request)
           : sent.on_device ? nonblocking_send(real().Isend, sent, send_tag, request)
                            : start_large_send(real().Isend, sent, send_tag, request);
  };
  return exchange(sent, send_tag, received, start_send, status);
}

int replace(const Outgoing& sent, int send_tag, const Incoming& received, MPI_Status* status) {
  note_wait();
  const bool raw = sends_untouched(sent);
  if (raw && receives_untouched(received)) {
    return real().Sendrecv_replace(received.buffer, received.count, received.type, sent.destination,
                                   send_tag, received.source, received.tag, received.comm, status);
  }
  std::optional<Wire> outgoing;
  const int error = copy_outgoing(sent, raw, outgoing);
  if (error != MPI_SUCCESS) return error;
  const auto start_send = [&](MPI_Request* request) {
    return start_wire(real().Isend, sent, *outgoing, send_tag, request);
  };
  return exchange(sent, send_tag, received, start_send, status);
}

}  // namespace

THINWIRE_BOTH_COUNTS(THINWIRE_EXCHANGE, Sendrecv, MPI_Status, send_and_receive);
THINWIRE_BOTH_COUNTS(THINWIRE_REPLACEMENT, Sendrecv_replace, MPI_Status, replace);
