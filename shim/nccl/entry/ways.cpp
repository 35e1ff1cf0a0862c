#include "entry/submit.h"

#include <utility>
#include <vector>

#include "entry/group.h"
#include "entry/unfinished.h"
#include "native/call_native.h"
#include "native/cuda.h"
#include "run/in_order.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

bool may_code(const Communicator& communicator) {
  const Compressor* const compressor = communicator.compressor.load(std::memory_order_acquire);
  return compressor != nullptr && compressor->may_code();
}

}  // namespace

ncclResult_t go_at_once(const Call& call) {
  const ncclResult_t result = pass(call);
  return result == ncclSuccess || !in_group() ? result : spoil_group(result);
}

ncclResult_t go_raw(const Call& call, Communicator& communicator) {
  // Nobody began to agree for this communicator, or it has ended.
  if (!in_group() || !communicator.agreed) return go_at_once(call);
  keep_raw(call, communicator);
  return ncclSuccess;
}

ncclResult_t go_watched(Planned planned) {
  const Decision& decision = planned.decision;
  if (decision.plan == nullptr && !decision.is_timed()) {
    const ncclResult_t result = go_raw(planned.call, *planned.communicator);
    if (result == ncclSuccess && !in_group()) note_end(planned);
    return result;
  }
  if (in_group()) {
    if (!allowed([&] { keep_watched(planned); }) && decision.is_timed())
      planned.compressor->lose_time(decision);
    return go_raw(planned.call, *planned.communicator);
  }
  enqueue_before({&planned, 1});
  const ncclResult_t result = pass(planned.call);
  if (result == ncclInProgress && has_after(planned)) {
    if (!allowed([&] { finish_later({}, {planned}); })) leave_out_after(planned);
  } else {
    enqueue_after({&planned, 1});
    if (result == ncclSuccess) note_end(planned);
  }
  return result;
}

ncclResult_t go_coded(Planned planned) {
  Rest rest;
  enqueue_before({&planned, 1});
  const ncclResult_t result = enqueue_coded(planned, &rest);
  if (result == ncclInProgress) return finish_later(std::move(rest), {});
  enqueue_after({&planned, 1});
  if (result == ncclSuccess) note_end(planned);
  return result;
}

ncclResult_t go_in_order(Planned planned) {
  Rest rest;
  const bool is_watched = planned.decision.plan != nullptr || planned.decision.is_timed();
  allowed([&] { rest = in_order(planned, in_group()); });
  if (rest.calls.empty()) {
    planned.compressor->set_error(ncclSystemError);
    return spoil_group(ncclSystemError);
  }
  if (in_group()) {
    if (is_watched && !allowed([&] { keep_watched(planned); }) && planned.decision.is_timed())
      planned.compressor->lose_time(planned.decision);
    for (const Planned& each : rest.calls) keep_coded(each);
    return ncclSuccess;
  }
  if (is_watched) enqueue_before({&planned, 1});
  const ncclResult_t result = enqueue_in_turn(rest);
  if (result == ncclInProgress) {
    const bool has_more = has_after(planned);
    return finish_later(std::move(rest),
                        has_more ? std::vector<Planned>{planned} : std::vector<Planned>());
  }
  enqueue_after({&planned, 1});
  if (result == ncclSuccess) note_end(planned);
  return result;
}

void note_end_of_raw(const Call& call, const Communicator& communicator) {
  Compressor* const compressor = communicator.compressor.load(std::memory_order_acquire);
  if (compressor == nullptr || !compressor->times_next_call() || in_group()) return;
  if (capture_of(call.stream).state == Capture::State::kNone)
    allowed([&] { compressor->note_end(call); });
}

// Whether other ranks may add it in their order.
bool may_be_in_order(const Call& call, const Communicator& communicator) {
  return call.reduces() && settings().orders && communicator.ranks > 1 && communicator.agreed &&
         communicator.agreed->state() != agree::State::kRaw;
}

ncclResult_t go_out_of_step(const Call& call, Communicator& communicator) {
  const bool fails = may_code(communicator) || may_be_in_order(call, communicator);
  return fails ? spoil_group(ncclSystemError) : go_raw(call, communicator);
}

// Other ranks hear of it by the helpers, and wait no longer for this one.
void note_missing_number(Communicator& communicator) noexcept {
  if (communicator.out_of_step.exchange(true)) return;
  allowed([&] {
    if (Compressor* const compressor = communicator.compressor.load(std::memory_order_acquire)) {
      if (compressor->may_code()) compressor->set_error(ncclSystemError);
      compressor->revoke();
    } else if (communicator.agreed) {
      communicator.agreed->revoke();
    }
  });
}

ncclResult_t go_refused(const Call& call, Communicator* communicator) noexcept {
  if (communicator != nullptr) note_missing_number(*communicator);
  if (in_group()) return spoil_group(ncclSystemError);
  if (communicator == nullptr) return pass(call);
  ncclResult_t result = ncclSystemError;
  allowed([&] { result = go_out_of_step(call, *communicator); });
  return result;
}

}  // namespace thinwire::nccl
