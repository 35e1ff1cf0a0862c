// What the program asked of NCCL, told when the process ends.
#pragma once

namespace thinwire::nccl {

// From here on there is something to tell. Costs a load after the first call.
void report_at_exit();

// As NCCL numbers it; 0 where it does not say.
int nccl_version();

}  // namespace thinwire::nccl
