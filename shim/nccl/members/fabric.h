// Which NVLink domain a communicator's GPU is in, as NCCL joins hosts by it.
#pragma once

#include <cstdint>

namespace thinwire::nccl {

// Equal for GPUs of one cluster and clique; 0: in none, or NCCL would not use it. `device` is the
// GPU's number as CUDA has it; negative: it is not known which of the process's it is.
std::uint64_t domain_of(int device);

}  // namespace thinwire::nccl
