// Modules that a program opens with RTLD_DEEPBIND find the MPI's functions before this library's
// wrappers: a receive of theirs would get a frame's bytes. If the MPI is loaded by then, they find
// the wrappers in it (native/mpi_symbols.h). If it comes with them, what they are bound to is set
// right before the program can look up what is in them.
#pragma once

#include <atomic>

namespace thinwire::mpi {

// Whether such a module may have been opened before the MPI was seen.
extern std::atomic<bool> deep_binding_may_be_open;

// Makes every loaded object that calls the MPI's own functions call the wrappers. It changes words
// that the loader has written or is to write at a first call, no code, and leaves the MPI's own
// library and what is loaded by dlmopen() as they are.
void bind_modules_to_wrappers();

}  // namespace thinwire::mpi
