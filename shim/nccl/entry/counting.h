// Counts of a call that moves data, for the report and traces.
#pragma once

#include "observe/count.h"
#include "run/call.h"
#include "run/plans.h"

namespace thinwire::nccl {

// True if calls could be compressed: a program may ask at any time for what became of them.
bool wants_count();

// Messages one by one; of a reduce-scatter the whole array, as NCCL makes one of it.
std::uint64_t bytes_judged(const Call& call, const Communicator& communicator);

// Counts a call; in a group, after that is carried out. `plan`: of a coded call, else `reason` says
// why it is raw.
void count_call(const Call& call, Communicator& communicator, int reason, int rule, unsigned codec,
                const Plan* plan = nullptr, Order order = Order::kAny);

}  // namespace thinwire::nccl
