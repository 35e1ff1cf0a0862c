#include "shim/mpi/collective/start.h"

#include <memory>

#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/may_compress.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/collective/plan.h"
#include "shim/mpi/collective/started.h"
#include "shim/mpi/collective/thread.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
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
