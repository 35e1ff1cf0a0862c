#include "shim/mpi/state/state.h"

#include "shim/mpi/native/immortal.h"

namespace thinwire::mpi {

Process& process() { return immortal<Process>(); }

}  // namespace thinwire::mpi
