#include "shim/mpi/collective/started.h"

#include <memory>
#include <new>

#include "shim/mpi/collective/agreed_facts.h"
#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/may_compress.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/collective/plan.h"
#include "shim/mpi/collective/thread.h"
#include "shim/mpi/message/running.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/collective_calls.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// No collective can be cancelled.
extern "C" int thinwire_collective_cancel(void*, int) { return MPI_ERR_REQUEST; }

}  // namespace

Started::Started(const CollectiveArguments& arguments, const Part& part, Ends ends)
    : arguments_(arguments), part_(part), ends_(ends) {
  types_.own_those_of(arguments_.sent, part.sent_blocks);
  types_.own_those_of(arguments_.received, part.received_blocks);
  lists_.own_those_of(arguments_.sent, part.sent_blocks > 0 ? part.ranks : 0);
  lists_.own_those_of(arguments_.received, part.received_blocks > 0 ? part.ranks : 0);
}

// MPICH 4.0 calls this and the next with its lock held: they must do nothing that takes it.
int Started::query(void* state, MPI_Status* status) {
  real().Status_set_elements_x(status, MPI_BYTE, 0);
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Started*>(state)->error_.load(std::memory_order_acquire);
}

int Started::end(void* state) {
  auto* const started = static_cast<Started*>(state);
  if (started->ends_ == Ends::kWithItsRequest) delete started;
  return MPI_SUCCESS;
}

int Started::begin(const std::shared_ptr<Worker>& worker, CallQueue& queue, MPI_Request* request) {
  const int error = real().Grequest_start(query, end, thinwire_collective_cancel, this, &request_);
  if (error != MPI_SUCCESS) return error;
  *request = request_;
  add_running(request_, worker);
  worker->hand_over(request_,
                    [this, &queue](Waiting::Who who, const std::atomic<unsigned>& wanted) {
                      run(queue, who, wanted);
                    });
  return MPI_SUCCESS;
}

void Started::run(CallQueue& queue, Waiting::Who who, const std::atomic<unsigned>& wanted) {
  queue.set_waiter(who, &wanted);
  const bool compresses = !part_.is_open || agree_on_signature(part_, queue);
  observe_begun(compresses ? NativeReason::kCompressed : NativeReason::kDtype);
  int error = MPI_ERR_INTERN;
  try {
    tw_collective collective = describe(arguments_, part_, queue.lists);
    collective.flags |= TW_AS_AGREED;  // plan.h says why
    error = run_described(arguments_, part_, collective, queue);
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;  // on a thread of ours nobody else could catch it
  } catch (...) {
  }
  queue.set_waiter(Waiting::Who::kProgram);
  error_.store(error, std::memory_order_release);
  if (ends_ == Ends::kWithItsRequest) types_.release();
  // This may be gone after the request is complete.
  const MPI_Request request = request_;
  remove_running(request);
  real().Grequest_complete(request);
}

namespace {

NativeReason may_start_compressed(const CollectiveArguments& arguments, Part& part,
                                  Collectives*& kept) {
  const NativeReason why = may_compress(arguments, part);
  watch_link(part);
  if (why != NativeReason::kCompressed) return why;
  kept = known_collectives(arguments.comm);
  // A communicator cannot be made here: whoever waits for nobody must not wait for that.
  if (kept == nullptr) {
    want_collectives_of(arguments.comm);
    return NativeReason::kNotYet;
  }
  if (kept->why != NativeReason::kCompressed) return kept->why;
  const NativeReason by_codec = may_compress_under_codec(*kept, part);
  if (by_codec != NativeReason::kCompressed) return by_codec;
  if (!kept->threads) return NativeReason::kNoThreads;
  const NativeReason by_plan = plan_started(arguments, part, *kept);
  return by_plan == NativeReason::kCompressed ? may_run_started(*kept) : by_plan;
}

}  // namespace

std::optional<int> start(const CollectiveArguments& arguments, MPI_Request* request) {
  Part part;
  Collectives* kept = nullptr;
  const NativeReason why = may_start_compressed(arguments, part, kept);
  if (why != NativeReason::kCompressed || request == nullptr) {
    count_native(why, arguments, part);
    if (why == NativeReason::kNotKnown) return raise(arguments.comm, MPI_ERR_OTHER);
    return std::nullopt;
  }
  auto started = std::make_unique<Started>(arguments, part, Started::Ends::kWithItsRequest);
  const int error = started->begin(kept->worker, kept->queue, request);
  if (error != MPI_SUCCESS) return raise(arguments.comm, error);
  started.release();
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi
