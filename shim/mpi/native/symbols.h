// Symbols of the MPI underneath, for files that need no mpi.h.
#pragma once

#include <atomic>

namespace thinwire::mpi {

// An address inside the loaded MPI or what it links, or nullptr. The MPI's own, if its library
// shows a wrapper instead.
void* find_symbol(const char* name);

// After the MPI's library shows wrappers (native/mpi_symbols.h): its own function if `found`, which
// the loader has for `name`, is the wrapper; else `found`.
using OwnOfMpi = void* (*)(const char* name, void* found);
extern std::atomic<OwnOfMpi> own_of_mpi;

// This library, in which every function of MPI is a wrapper.
void* own_handle();

// True in the thread that is in there: its look-ups are not answered with wrappers.
extern thread_local bool looks_up_itself;

}  // namespace thinwire::mpi
