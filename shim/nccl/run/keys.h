// Keys by which all ranks know a collective: the plan that it has, and the kind whose calls share
// a capacity. For messages see run/messages.h. Pure but for the settings, which ranks compare.
#pragma once

#include <cstdint>

#include "run/call.h"
#include "run/plans.h"

namespace thinwire::nccl {

// `is_whole`: what it sends is one group, whatever the settings say.
PlanKey plan_key(const Call& call, int ranks, bool is_whole);

// The key of calls that need about the same capacity: the same values, by the name of a broadcast's
// root too, in arrays of about one size, under one codec. Of the codecs of either side: a kind is
// asked for before it is known which side it is.
std::uint64_t kind_key(const Call& call, const PlanKey& plan, unsigned exchange);

// NCCL's Reduce is a pipeline that brings its root one array; in two exchanges of slots come the
// others' shares of its block, and then their sums; in two levels those of nodes. All ranks know
// the capacities alike.
bool brings_less(const PlanKey& key, int ranks_or_nodes);

}  // namespace thinwire::nccl
