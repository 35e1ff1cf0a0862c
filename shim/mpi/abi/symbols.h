// Symbols of the MPI underneath, for files that need no mpi.h.
#pragma once

namespace thinwire::mpi {

// An address inside the loaded MPI or what it links, or nullptr.
void* find_symbol(const char* name);

// In the thread that is in there: its look-ups are not answered with wrappers.
extern thread_local bool looks_up_itself;

}  // namespace thinwire::mpi
