// Symbols of the MPI underneath, for files that need no mpi.h.
#pragma once

namespace thinwire::mpi {

// An address inside the loaded MPI or what it links, or nullptr.
void* find_symbol(const char* name);

// This library, in which every function of MPI is a wrapper.
void* own_handle();

// In the thread that is in there: its look-ups are not answered with wrappers.
extern thread_local bool looks_up_itself;

}  // namespace thinwire::mpi
