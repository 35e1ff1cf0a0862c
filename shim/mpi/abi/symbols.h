// Symbols of the MPI underneath, for files that need no mpi.h.
#pragma once

namespace thinwire::mpi {

// An address inside the loaded MPI or what it links, or nullptr.
void* find_symbol(const char* name);

}  // namespace thinwire::mpi
