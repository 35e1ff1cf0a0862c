// Why nothing of what a program asked of NCCL was compressed: one line on standard error a job.
#pragma once

#include "state/communicators.h"

namespace thinwire::nccl {

// Says at the end, by the process with rank 0, that nothing was compressed, if something was asked
// for and there was something to compress. `all` are its communicators, of which there is one at
// least.
void explain_nothing_compressed(const std::vector<Communicator*>& all);

// Programs that have NCCL linked into them, whose calls no preload library sees.

// For the end of a process that has made no call of NCCL here: where a report was asked for, and
// the program's file says a version of NCCL's as that would, a line says so, once a job.
void say_if_unseen();

}  // namespace thinwire::nccl
