// State of the process that nothing destroys.
#pragma once

#include <new>

namespace thinwire::mpi {

// The one T, made at first use. The MPI may call back after this library's own destructors would
// have run, and what T holds then belongs to an MPI that has ended.
template <typename T>
T& immortal() {
  alignas(T) static unsigned char storage[sizeof(T)];
  static T* const made = new (storage) T;
  return *made;
}

}  // namespace thinwire::mpi
