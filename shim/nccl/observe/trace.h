// THINWIRE_TRACE and THINWIRE_METRICS of an NCCL program: what it asked of NCCL, over time, in
// files of each process (docs/reference/trace.md).
#pragma once

#include "observe/count.h"

namespace thinwire::nccl {

// Whether either is wanted.
bool is_traced();

// Any thread. The first one begins the trace; calls that only receive are left to who sends.
void trace_call(const Count& call);

// Writes what is left; waits for that. No more calls are traced.
void end_trace();

}  // namespace thinwire::nccl
