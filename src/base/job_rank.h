// Which rank of its job this process is, by what launchers put into its environment.
#pragma once

#include <cstdint>
#include <optional>

namespace thinwire {

// The innermost launcher's word: torchrun's, which sets WORLD_SIZE beside RANK and may have been
// started once a node, then that of MPIs and Slurm, then RANK alone. Nothing if none says it.
std::optional<std::int64_t> job_rank();

// How many ranks the job has, by the same launchers' words. Nothing if none says it.
std::optional<std::int64_t> job_size();

// Whether it is the first rank of its job, or no launcher started it: one process says what all
// would say.
bool speaks_for_job();

}  // namespace thinwire
