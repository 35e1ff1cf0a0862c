// A process whose MPI is of another family than this library's: the handles of one mean nothing to
// the other. The library lets go of it: its functions are not found any more, and what the loader
// has bound to them is bound to the MPI's, so that the program runs as without it.
//
// It looks when it is loaded, and after that, until an MPI is there, before each look-up of the
// program: modules that bring an MPI are entered by one. A module's constructor may call the MPI
// before; then the first wrapper that it calls looks.
#pragma once

#include <atomic>

namespace thinwire::mpi {

// Whether an MPI may still come, and is to be looked for.
extern std::atomic<bool> mpi_may_come;

// Looks for it, if anything was loaded since, and steps aside if it has to. Any thread.
void see_mpi();

// Whether the library has let go of the process.
bool stands_aside();

// A symbol of the MPI that it has left the process to; nullptr if there is none.
void* symbol_of_other_mpi(const char* name);

}  // namespace thinwire::mpi
