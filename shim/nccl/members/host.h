// The place of this process, as NCCL tells machines apart: its host, and the NVLink domain of a
// GPU, which may join hosts.
#pragma once

#include <cstdint>

namespace thinwire::nccl {

// Equal for processes that NCCL takes to be on one host: of NCCL_HOSTID, else of the host's name
// and the boot of its kernel.
std::uint64_t host_of_this_process();

// Equal for GPUs of one cluster and clique; 0: in none, or NCCL would not use it. `device` is the
// GPU's number as CUDA has it; negative: it is not known which of the process's it is.
std::uint64_t domain_of(int device);

}  // namespace thinwire::nccl
