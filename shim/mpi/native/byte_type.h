// A datatype of the MPI that means the same bytes as another and names them bytes.
#pragma once

#include <optional>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/type_map.h"

namespace thinwire::mpi {

// Committed, with the map's extent. A message of any length may be received into elements of it,
// which for a type of larger elements some MPIs do not bear. Nothing if the MPI cannot say the
// type in its counts. The caller frees it.
std::optional<MPI_Datatype> make_byte_type(const TypeMap& map);

}  // namespace thinwire::mpi
