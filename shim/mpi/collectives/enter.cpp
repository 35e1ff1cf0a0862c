#include "collectives/enter.h"

#include "abi/real.h"
#include "collectives/call.h"
#include "collectives/communicators.h"
#include "collectives/judge.h"
#include "collectives/native_count.h"
#include "collectives/plan.h"
#include "collectives/signature.h"
#include "process/process.h"
#include "requests/error_target.h"

namespace thinwire::mpi {

bool collectives_may_enter = false;

std::optional<int> enter(const Asked& asked) {
  Part part;
  NativeReason why = judge_call(asked, part);
  if (why == NativeReason::kCompressed) {
    Collectives& kept = collectives_of(asked.comm);
    why = kept.why;
    if (why == NativeReason::kCompressed && part.is_open && !agree_on_signature(part, kept.lane)) {
      why = NativeReason::kDtype;
    }
    if (why == NativeReason::kCompressed) {
      tw_collective collective = describe(asked, part, kept.lane.lists);
      why = plan_blocking(asked, part, collective, kept);
      if (why == NativeReason::kCompressed) {
        collective.flags |= TW_PLANNED;
        ++process().counters.collectives[TW_COMPRESS];
        const int error = run_described(asked, part, collective, kept.lane);
        return error == MPI_SUCCESS ? MPI_SUCCESS : raise(asked.comm, error);
      }
    }
  }
  count_native(why, asked);
  // The others may enter or not: this rank can do neither without a risk for the data.
  if (why == NativeReason::kNotKnown) return raise(asked.comm, MPI_ERR_OTHER);
  make_if_wanted(asked.comm);
  return std::nullopt;
}

}  // namespace thinwire::mpi
