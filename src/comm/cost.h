// A codec's cost on the slowest rank.
#pragma once

#include "comm/call.h"
#include "costs/costs.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace thinwire::comm {

// Measures a codec's cost on this rank, in host memory or that device's, of one piece in the shape
// that the spec gives the call's array; all zeros if it cannot be measured, which no plan takes for
// a win. Measures once a process: later calls of the kind are told the same. Costs that `known`
// has, which may be null, are not measured.
plan::CodecCost measure_cost(const Call& call, int size, int device, const costs::Table* known);

// Collective: the lowest speeds and the lowest ratio of all ranks.
Status agree_on_slowest(transport::Transport& transport, plan::CodecCost& cost);

}  // namespace thinwire::comm
