// The end of a datatype, which messages and other datatypes may outlive.
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"

using namespace thinwire::mpi;

extern "C" int MPI_Type_free(MPI_Datatype* type) {
  if (shim_is_active() && type != nullptr) forget_type(*type);
  return real().Type_free(type);
}
THINWIRE_ALSO_PMPI(Type_free);
