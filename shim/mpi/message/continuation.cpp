// One continuation: its memory, and what it does once its operation is complete.
#include <memory_resource>
#include <mutex>
#include <utility>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_message.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Apart from the table of continuations, under whose lock one may end. One pool for all threads:
// programs start threads for a moment's work, and a thread's own pool would cost more than the
// lock.
struct ContinuationMemory {
  std::mutex mutex;
  std::pmr::unsynchronized_pool_resource pool{&process().system};
};

ContinuationMemory& continuation_memory() { return immortal<ContinuationMemory>(); }

}  // namespace

Continuation::Continuation(Kind kind_, Lease wire) : kind(kind_), space{std::move(wire), {}} {
  ++process().counters.continuations;
}

Continuation::Continuation(StagedPointer collective)
    : kind(Kind::kCollective), staged(std::move(collective)) {}

void* Continuation::operator new(std::size_t bytes) {
  ContinuationMemory& memory = continuation_memory();
  const std::lock_guard lock(memory.mutex);
  return memory.pool.allocate(bytes, alignof(Continuation));
}

void Continuation::operator delete(void* continuation, std::size_t bytes) {
  ContinuationMemory& memory = continuation_memory();
  const std::lock_guard lock(memory.mutex);
  memory.pool.deallocate(continuation, bytes, alignof(Continuation));
}

ContinuationPointer make_receive_continuation(ReceiveSpace space, const Destination& destination) {
  auto continuation = std::make_unique<Continuation>(Continuation::Kind::kReceive, Lease());
  continuation->space = std::move(space);
  continuation->destination = destination;
  continuation->destination.errors = error_target(destination.comm);
  // Needed where only the MPI can unpack it.
  const bool knows_bytes = destination.dense || destination.on_device || destination.bytes.map;
  continuation->owns_type = !knows_bytes && is_derived(destination.type);
  if (continuation->owns_type) real().Type_dup(destination.type, &continuation->destination.type);
  return continuation;
}

Continuation::~Continuation() {
  if (copy != nullptr) tw_copy_finish(copy);
  if (owns_type) real().Type_free(&destination.type);
}

Settled settle(Continuation& continuation, MPI_Status& status, int error) {
  if (continuation.kind == Continuation::Kind::kSend) return {error, nullptr};
  if (continuation.delivered) {
    status = continuation.status;
    return {continuation.error, nullptr};
  }
  if (continuation.kind == Continuation::Kind::kCollective) {
    return error == MPI_SUCCESS ? continuation.staged->finish() : Settled{error, nullptr};
  }
  const int placed = deliver(continuation.destination, continuation.space, status, error,
                             std::exchange(continuation.copy, nullptr));
  if (continuation.early) continuation.early->received(wire_bytes_of(status));
  if (placed == error) return {error, nullptr};
  return {placed, continuation.destination.errors};
}

void begin_delivery(Continuation& continuation, const MPI_Status& status, int error) {
  if (continuation.kind != Continuation::Kind::kReceive || continuation.delivered ||
      continuation.copy != nullptr)
    return;
  if (error == MPI_SUCCESS)
    continuation.copy = begin_copy(continuation.destination, continuation.space.wire, status);
}

bool is_complete(MPI_Request request) {
  int done = 0;
  real().Request_get_status(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

}  // namespace thinwire::mpi
