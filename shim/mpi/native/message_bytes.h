// The size of a message, and the memory of one without an address.
#pragma once

#include <cstdint>

#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

// GPU memory that a datatype of absolute addresses means.
bool bottom_is_on_device(MPI_Datatype type);

// message_bytes() of a type of 2 GiB and more.
std::uint64_t wide_message_bytes(MPI_Count count, MPI_Datatype type);

// size * count, also beyond 2 GiB; 0 for what the MPI itself must judge (negative counts, no type).
inline std::uint64_t message_bytes(MPI_Count count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  // The types that carry nearly all traffic need no call.
  if (type == MPI_FLOAT) return 4 * static_cast<std::uint64_t>(count);
  if (type == MPI_DOUBLE) return 8 * static_cast<std::uint64_t>(count);
  if (type == MPI_BYTE) return static_cast<std::uint64_t>(count);
  int size = 0;
  if (real().Type_size(type, &size) != MPI_SUCCESS) return 0;
  if (size < 0) [[unlikely]]
    return wide_message_bytes(count, type);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

}  // namespace thinwire::mpi
