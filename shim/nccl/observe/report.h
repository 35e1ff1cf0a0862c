// The report of what the program asked of NCCL, told when the process ends.
#pragma once

namespace thinwire::nccl {

// From here on there is something to tell. Costs a load after the first call.
void report_at_exit();

// Whether calls are counted: where one could be compressed, compression was asked for, or a report
// or a trace is wanted.
bool is_counting();

// As NCCL numbers it; 0 if it does not say.
int nccl_version();

}  // namespace thinwire::nccl
