// What a datatype is, found out anew by what its constructors were given.
#pragma once

#include "shim/mpi/native/datatypes.h"

namespace thinwire::mpi {

TypeFacts find_type_facts(MPI_Datatype type);

}  // namespace thinwire::mpi
