// The one place that decides what becomes of a call that moves data.
#pragma once

#include "run/call.h"

namespace thinwire::nccl {

// Has it done: by NCCL as it is, or in slots. What NCCL would say.
ncclResult_t submit(const Call& call) noexcept;

// Decides, as the outermost group ends, about its calls that wait for that.
void submit_undecided() noexcept;

}  // namespace thinwire::nccl
