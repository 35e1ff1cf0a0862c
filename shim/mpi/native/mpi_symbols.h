// The table of symbols of the MPI's library, as the loader has it in memory: after its functions
// are the wrappers there, whatever searches the MPI's library before this one finds them.
#pragma once

namespace thinwire::mpi {

// Makes the functions of the MPI that calls go on to be found as the wrappers from now on: by
// modules that are opened with RTLD_DEEPBIND, in their constructors too, by what they look up or
// open themselves, and by RTLD_NEXT. False if no MPI is loaded, or memory cannot be had or written.
// What another library between this one and the MPI has of the same names stays.
bool show_wrappers_in_mpi();

}  // namespace thinwire::mpi
