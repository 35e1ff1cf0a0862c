// Which of NCCL's collectives the program's settings leave it.
#pragma once

#include <string_view>

namespace thinwire::nccl {

// Whether NCCL does `function`, as in "allgather", under this value of NCCL_ALGO. Rings do all of
// its collectives, trees AllReduce alone; NCCL refuses a call that no algorithm of the list does.
bool has_ring(std::string_view nccl_algo, std::string_view function);

// The same under the environment's value, which NCCL wants alike on all ranks.
bool gathers();
bool broadcasts();

}  // namespace thinwire::nccl
