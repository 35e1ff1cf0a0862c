// Compiled for each library of an ABI; all else in them is one set of objects.
#include "shim/mpi/native/names.h"

namespace thinwire::mpi {

const unsigned exported_groups = THINWIRE_EXPORTED_GROUPS;

}  // namespace thinwire::mpi
