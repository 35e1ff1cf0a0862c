// Continuations: what remains to be done when one of the user's requests completes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "shim/mpi/message/destination.h"
#include "shim/mpi/message/handle_filter.h"
#include "shim/mpi/message/late_calls.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// Work that a collective of the MPI's own leaves to be done.
class Staged {
 public:
  Staged() = default;
  virtual ~Staged() = default;
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  // Before each start: brings what the call reads to where it is read. What went wrong, raised.
  virtual int load() { return 0; }

  // After each completion. Returns what went wrong, not raised.
  virtual Settled finish() = 0;

  // False: MPI_Request_free is the MPI's to judge.
  virtual bool may_be_freed() const { return true; }
};
using StagedPointer = std::shared_ptr<Staged>;

class EarlyMessage;

struct Continuation {
  enum class Kind { kSend, kReceive, kCollective };
  Kind kind = Kind::kSend;
  ReceiveSpace space;       // a send's wire message is kept there too
  Destination destination;  // kReceive
  bool owns_type = false;   // the destination's type is a duplicate of the user's
  bool delivered = false;   // by MPI_Request_get_status; the two below hold the outcome
  MPI_Status status{};
  int error = MPI_SUCCESS;
  tw_copy* copy = nullptr;  // of a raw message to GPU memory, under way before its delivery
  StagedPointer staged;     // kCollective
  std::shared_ptr<EarlyMessage> early;  // kReceive, of a message that was probed before
  std::uint64_t number = 0;             // in the table: a later one has a larger
  std::unique_ptr<Continuation> older;  // in the table: of an operation that had the same handle

  Continuation(Kind kind_, Lease wire);
  explicit Continuation(StagedPointer collective);
  ~Continuation();
  Continuation(const Continuation&) = delete;
  Continuation& operator=(const Continuation&) = delete;

  // From a pool: there is one continuation a message.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* continuation, std::size_t bytes);
};
using ContinuationPointer = std::unique_ptr<Continuation>;

// The continuation of a pending receive. It needs nothing of the user's that he may free: neither
// the datatype nor the communicator.
ContinuationPointer make_receive_continuation(ReceiveSpace space, const Destination& destination);

// Finishes a completed operation: a received message is decoded or copied to the user, `status`
// then says what a raw message's would. `error` is the operation's own, which the MPI has raised;
// returns it, or what went wrong here, which the caller raises once it holds nothing.
Settled settle(Continuation& continuation, MPI_Status& status, int error);

// Begins what of a completed receive can run while others are waited for: the copy of a raw message
// to GPU memory. `settle` completes it.
void begin_delivery(Continuation& continuation, const MPI_Status& status, int error);

// Whether it is complete. An MPI may give all operations that complete at once one and the same
// handle: no continuation on those.
bool is_complete(MPI_Request request);

// Continuations by request handle. Whoever completes requests takes their continuations out before
// the MPI call and puts the incomplete ones back; or begins a late call, and takes those of the
// completed ones after the MPI's. A handle that another thread, or an error handler, is given
// meanwhile never meets an old continuation.
void put_continuation(MPI_Request request, ContinuationPointer continuation);
ContinuationPointer take_continuation(MPI_Request request);
// One of these numbers alone: an error handler that ran meanwhile may have been given the handle
// again.
ContinuationPointer take_continuation_of(MPI_Request request, std::uint64_t first,
                                         std::uint64_t last);
void begin_late(LateCall& call);
ContinuationPointer take_continuation_late(const LateCall& call, MPI_Request request);
void end_late(LateCall& call);
extern std::atomic<std::uint64_t> live_continuations;
extern HandleFilter continued_requests;

// The number of these that must be taken before the MPI call: other threads look at receives of
// messages that were probed, and copies to GPU memory overlap.
extern std::atomic<std::uint64_t> live_taken_before;

// A continuation that is out of the table while the MPI is asked about its request.
class HeldContinuation final : UnderWay {
 public:
  explicit HeldContinuation(MPI_Request request)
      : request_(request), continuation_(take_continuation(request)) {
    begin();
  }
  ~HeldContinuation() { put_back(); }

  bool has_any() const { return continuation_ != nullptr; }

  // Afterwards the caller's. Nothing: it is back in the table, as an error handler ran.
  ContinuationPointer take() { return std::move(continuation_); }

 private:
  void put_back() {
    end();
    if (continuation_) put_continuation(request_, std::move(continuation_));
  }
  void before_handler(int) override { put_back(); }
  MPI_Request request_;
  ContinuationPointer continuation_;
};

// Delivers the message of a pending receive if it is here, without completing the request. Nothing
// happens where `request` is not that of `early`.
void deliver_if_complete(MPI_Request request, const EarlyMessage& early);

// A request whose operation goes on though nobody will ask for its end: a receive that the user
// freed, whose message must reach his buffer all the same, or one into scratch that is not needed
// any more. It is completed here, by the receives, probes and completion calls that follow;
// keeping one calls no MPI.
void keep_orphan(MPI_Request request, ContinuationPointer continuation);
ContinuationPointer reclaim_orphan(MPI_Request request);  // none: it has been completed
extern std::atomic<std::uint64_t> live_orphans;
void complete_orphans();
inline void progress_orphans() {
  if (live_orphans.load(std::memory_order_relaxed) != 0) [[unlikely]]
    complete_orphans();
}
void drain_orphans();

// Logs what is left of this process' continuations and early messages at MPI_Finalize, where
// nothing should be.
void check_nothing_left();

}  // namespace thinwire::mpi
