// Predictions about a kind before anything of it is tried, by the rate of the link. They are of
// this rank alone: what they rule out is a veto on the kind.
#pragma once

#include "run/call.h"
#include "run/connections.h"
#include "run/plans.h"
#include "state/settings.h"

namespace thinwire::nccl {

// Why calls that are planned like that are not tried, or 0. `call` is one of the kind, whose
// largest has `bytes`; `plan`, of a collective, is that one's.
int why_not_tried(const Call& call, std::uint64_t bytes, const Plan* plan, const CodecUse& use,
                  const RankNodes& hosts, int rank, int ranks);

}  // namespace thinwire::nccl
