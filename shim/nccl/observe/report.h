// The report of what the program asked of NCCL, told when the process ends.
#pragma once

namespace thinwire::nccl {

// Notes that there is something to tell from here on. Costs a load after the first call.
void report_at_exit();

// Whether calls are counted: where one could be compressed, compression was asked for, or a report
// or a trace is wanted.
bool is_counting();

// NCCL's version as NCCL numbers it; 0 if it does not say.
int nccl_version();

}  // namespace thinwire::nccl
