#include "shim/mpi/collective/compress_whole.h"

#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/collective/agreed_facts.h"
#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/may_compress.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/collective/plan.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/collective_calls.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

bool collectives_may_be_compressed = false;

void watch_link(const Part& part) {
  if (part.bytes >= process().settings.plan.threshold) {
    note_collective();
  } else {
    note_small();
  }
}

std::optional<int> compress_whole(const CollectiveArguments& arguments, CallClock& clock) {
  Part part;
  NativeReason why = may_compress(arguments, part);
  watch_link(part);
  if (why == NativeReason::kCompressed) {
    Collectives& kept = collectives_of(arguments.comm);
    why = kept.why;
    if (why == NativeReason::kCompressed && part.is_open && !agree_on_signature(part, kept.queue) &&
        !part.may_hold_floats()) {
      why = NativeReason::kDtype;
    }
    if (why == NativeReason::kCompressed) why = may_compress_under_codec(kept, part);
    if (why == NativeReason::kCompressed) {
      tw_collective collective = describe(arguments, part, kept.queue.lists);
      why = plan_blocking(part, collective, kept, clock);
      if (why == NativeReason::kCompressed) {
        collective.flags |= TW_PLANNED;
        observe_begun(NativeReason::kCompressed);
        clock.start();
        const int error = clock.ended(run_described(arguments, part, collective, kept.queue));
        clock.stop();
        return error == MPI_SUCCESS ? MPI_SUCCESS : raise(arguments.comm, error);
      }
    }
  }
  count_native(why, arguments, part);
  // The others may compress it or not: this rank can do neither without a risk for the data.
  if (why == NativeReason::kNotKnown) return raise(arguments.comm, MPI_ERR_OTHER);
  make_if_wanted(arguments.comm);
  clock.start();
  return std::nullopt;
}

}  // namespace thinwire::mpi
