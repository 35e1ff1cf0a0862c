// Findings of communicators that are gone about the classes of their calls, for later ones of the
// same ranks: programs split and free communicators at each step.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "choose/call_kind.h"
#include "process/plan_log.h"

namespace thinwire::mpi {

using CallClasses = std::map<PlanClass, choose::CallClass>;

// Remembers the classes of a communicator that goes, by its ranks in the job's world. Any threads.
void remember_classes(const std::vector<int>& world_ranks, const CallClasses& classes);

// The classes that are remembered of the same ranks in the same order; empty: none.
CallClasses remembered_classes(const std::vector<int>& world_ranks);

// Equal where ranks remember the same; what they measured and have not agreed on yet is left out.
std::uint64_t fingerprint(const CallClasses& classes);

}  // namespace thinwire::mpi
