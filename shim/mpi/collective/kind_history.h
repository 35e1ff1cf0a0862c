// Findings of communicators that are gone about the kinds of their calls, for later ones of the
// same ranks: programs split and free communicators at each step.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "choose/call_kind.h"
#include "shim/mpi/observe/plan_log.h"

namespace thinwire::mpi {

using CallKinds = std::map<KindKey, choose::CallKind>;

// Remembers the kinds of a communicator that goes, by its ranks in the job's world. Any threads.
void remember_kinds(const std::vector<int>& world_ranks, const CallKinds& kinds);

// The kinds that are remembered of the same ranks in the same order; empty: none.
CallKinds remembered_kinds(const std::vector<int>& world_ranks);

// Equal if ranks remember the same; what they measured and have not agreed on yet is left out.
std::uint64_t fingerprint(const CallKinds& kinds);

}  // namespace thinwire::mpi
