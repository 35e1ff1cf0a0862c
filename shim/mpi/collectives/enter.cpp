#include "collectives/enter.h"

#include <string>

#include "abi/real.h"
#include "collectives/call.h"
#include "collectives/communicators.h"
#include "collectives/judge.h"
#include "collectives/signature.h"
#include "process/process.h"
#include "requests/error_target.h"

namespace thinwire::mpi {

bool collectives_may_enter = false;

namespace {

void explain(const Asked& asked, const Part& part, const tw_collective& collective,
             const tw_collective_report& plan, Collectives& kept) {
  if ((kept.explained & bit_of(asked.call)) != 0) return;
  kept.explained |= bit_of(asked.call);
  if (kept.rank != 0) return;
  std::string line = std::string(part.form->name) + " of " + std::to_string(collective.count) +
                     " floats on " + std::to_string(part.ranks) + " ranks: ";
  if (plan.reason == TW_COMPRESS) {
    line += std::string("compressed, ") + tw_algorithm_text(plan.algorithm) + ", " +
            tw_coding_text(plan.coding);
  } else {
    line += std::string("the MPI's own: ") + tw_reason_text(static_cast<tw_reason>(plan.reason));
  }
  if (plan.predicted_raw_seconds > 0) {
    line += ", predicted " + std::to_string(plan.predicted_seconds) + " s, raw " +
            std::to_string(plan.predicted_raw_seconds) + " s";
  }
  tw_log(TW_LOG_DEBUG, line.c_str());
}

NativeReason plan_call(const Asked& asked, const Part& part, const tw_collective& collective,
                       Collectives& kept) {
  if (!has_schedule(collective.operation, collective.algorithm, collective.coding)) {
    return NativeReason::kNoSchedule;
  }
  tw_collective_report plan{};
  plan.size = sizeof plan;
  if (tw_comm_plan(kept.lane.comm(), &collective, &plan) != TW_OK) {
    tw_log(TW_LOG_DEBUG,
           (std::string(part.form->name) + " has no plan: " + tw_last_error()).c_str());
    return NativeReason::kNoSchedule;
  }
  explain(asked, part, collective, plan, kept);
  return static_cast<NativeReason>(plan.reason);
}

}  // namespace

std::optional<int> enter(const Asked& asked) {
  Part part;
  NativeReason why = judge_call(asked, part);
  if (why == NativeReason::kCompressed) {
    Collectives& kept = collectives_of(asked.comm);
    why = kept.why;
    if (why == NativeReason::kCompressed && has_open_signature(part) &&
        !agree_on_signature(part, kept.lane)) {
      why = NativeReason::kDtype;
    }
    if (why == NativeReason::kCompressed) {
      tw_collective collective = describe(asked, part, kept.lane);
      why = plan_call(asked, part, collective, kept);
      if (why == NativeReason::kCompressed) {
        collective.flags |= TW_PLANNED;
        ++process().counters.collectives[TW_COMPRESS];
        const int error = run_described(asked, part, collective, kept.lane);
        return error == MPI_SUCCESS ? MPI_SUCCESS : raise(asked.comm, error);
      }
    }
  }
  ++process().counters.collectives[static_cast<std::uint32_t>(why)];
  // The others may enter or not: this rank can do neither without a risk for the data.
  if (why == NativeReason::kNotKnown) return raise(asked.comm, MPI_ERR_OTHER);
  make_if_wanted(asked.comm);
  return std::nullopt;
}

}  // namespace thinwire::mpi
