#include "shim/mpi/native/message_bytes.h"

#include "shim/mpi/native/datatypes.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

bool bottom_is_on_device(MPI_Datatype type) {
  const void* first = first_byte(MPI_BOTTOM, type);
  return first != nullptr && tw_on_device(first) != 0;
}

std::uint64_t wide_message_bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count wide = 0;
  real().Type_size_x(type, &wide);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(wide);
}

}  // namespace thinwire::mpi
