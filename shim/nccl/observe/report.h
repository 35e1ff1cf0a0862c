// The last words of a process: the report of what the program asked of NCCL, and why nothing
// of it was compressed, one line on standard error a job.
#pragma once

#include <vector>

#include "state/communicators.h"

namespace thinwire::nccl {

// Notes that there is something to tell from here on. Costs a load after the first call.
void report_at_exit();

// Whether calls are counted: where one could be compressed, compression was asked for, or a report
// or a trace is wanted.
bool is_counting();

// NCCL's version as NCCL numbers it; 0 if it does not say.
int nccl_version();

// Says at the end, by the process with rank 0, that nothing was compressed, if something was asked
// for and there was something to compress. `all` are its communicators, of which there is one at
// least.
void explain_nothing_compressed(const std::vector<Communicator*>& all);

// Programs that have NCCL linked into them, whose calls no preload library sees.

// For the end of a process that has made no call of NCCL here: where a report was asked for, and
// the program's file says a version of NCCL's as that would, a line says so, once a job.
void say_if_unseen();

}  // namespace thinwire::nccl
