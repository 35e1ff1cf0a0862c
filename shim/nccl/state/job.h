// How many ranks the program's job has, as far as this process knows: as many as the launcher says,
// or as its largest communicator has. One that has fewer has siblings: what may lose values is
// decided on by them together (decision 0074).
#pragma once

#include <cstdint>

namespace thinwire::nccl {

// A communicator of so many ranks is made. Whether it has siblings.
bool note_ranks(int ranks);
// The job has lost some: so many are left.
void note_ranks_left(int ranks);
std::uint32_t ranks_of_job();

}  // namespace thinwire::nccl
