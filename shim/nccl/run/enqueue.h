// Enqueues calls in slots, one alone or those of a group.
#pragma once

#include <span>

#include "run/planned.h"

namespace thinwire::nccl {

// A call alone. ncclInProgress: `rest` is left, until NCCL has put on the streams what it has been
// given.
ncclResult_t enqueue_coded(const Planned& call, Rest* rest);
// Likewise calls of one communicator, one after the other in the same memory.
ncclResult_t enqueue_in_turn(Rest& calls);
// Enqueues the calls of the program's group, for which a group of NCCL's is open on this thread;
// ends that group.
ncclResult_t enqueue_group(Rest& group);

// Goes on with it; ncclInProgress as above.
ncclResult_t enqueue_rest(Rest& rest);
// Nothing more comes of it.
void give_up(const Rest& rest);

// Enqueues what goes with a call on its stream, before it and after it: sample encodes with a raw
// one, and the time of any that is timed. A failure of these hinders nothing else.
void enqueue_before(std::span<Planned> calls);
void enqueue_after(std::span<const Planned> calls);
// Whether there is something after it.
inline bool has_after(const Planned& planned) {
  return planned.clock != nullptr || planned.decision.result_sample != nullptr;
}
// Notes the end of a call that is on its stream, which may have been a group's last one.
void note_end(const Planned& planned);
// Nothing of it is enqueued any more.
void leave_out_after(const Planned& planned);

}  // namespace thinwire::nccl
