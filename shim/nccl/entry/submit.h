// The one place that decides what becomes of a call that moves data, and the ways that it goes
// after that: raw, with something beside it, or in slots. In a group they lead to its end.
#pragma once

#include "run/enqueue.h"

namespace thinwire::nccl {

// Has it done: by NCCL as it is, or in slots. What NCCL would say.
ncclResult_t submit(const Call& call) noexcept;

// Decides, as the outermost group ends, about its calls that wait for that.
void submit_undecided() noexcept;

// ---- after it is decided: ways.cpp ----

// One that NCCL is to refuse, or that keeps no order with coded ones.
ncclResult_t go_at_once(const Call& call);

ncclResult_t go_raw(const Call& call, Communicator& communicator);

// Calls NCCL; also enqueues the sample encode and the timers that the decision asks for.
ncclResult_t go_watched(Planned planned);

ncclResult_t go_coded(Planned planned);

// A raw sum that is added in the order of the ranks; with what go_watched() does.
ncclResult_t go_in_order(Planned planned);

// Does the same after a call that never reached Compressor::decide().
void note_end_of_raw(const Call& call, const Communicator& communicator);

// The system has refused memory before NCCL was given the call, and its number may be missing here:
// nothing on the communicator, if it is known, is compressed any more. The call goes raw if no
// rank can have made it compressed, else it fails, and in a group it fails.
ncclResult_t go_refused(const Call& call, Communicator* communicator) noexcept;
// The same of a call that NCCL has been given.
void note_missing_number(Communicator& communicator) noexcept;
// Makes a call on a communicator on which that has happened.
ncclResult_t go_out_of_step(const Call& call, Communicator& communicator);

}  // namespace thinwire::nccl
