// Programs that have NCCL linked into them, whose calls no preload library sees.
#pragma once

namespace thinwire::nccl {

// For the end of a process that has made no call of NCCL here: where a report was asked for, and
// the program's file says a version of NCCL's as that would, a line says so, once a job.
void say_if_unseen();

}  // namespace thinwire::nccl
