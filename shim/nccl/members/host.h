// Which machine this process is on, as NCCL tells machines apart.
#pragma once

#include <cstdint>

namespace thinwire::nccl {

// Equal for processes that NCCL takes to be on one host: of NCCL_HOSTID, else of the host's name
// and the boot of its kernel.
std::uint64_t host_of_this_process();

}  // namespace thinwire::nccl
