// Facts of a message that need no look into its datatype: bytes, first address, kind of values.
#pragma once

#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/real.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// The size of a message, and the memory of one without an address.

// The address of the lowest byte of the first element. The buffer's own address may be no memory at
// all: MPI_BOTTOM before absolute addresses, or the far end of a type's lower bound.
const void* first_byte(const void* buffer, MPI_Datatype type);

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

enum class Values : std::uint8_t {
  kOthers,  // none of these, or of several kinds at once
  kReals,
  kPairs,  // of reals each: complex numbers, and MPI_2REAL
  kWords,  // bytes and 16-bit integers, of which a policy may say what floats they hold
};

struct Leaves {
  tw_dtype leaf = TW_BYTES;  // of reals and pairs
  Values values = Values::kOthers;
};

// Floats that are none of these: wider ones, and pairs of them.
bool is_wide_real(MPI_Datatype type);
bool is_wide_complex(MPI_Datatype type);

// Fortran's pairs of a value and its place: MPI_SUM and its like take none.
bool is_pair_to_compare(MPI_Datatype type);

// `size` is the datatype's. A Fortran compiler's options can make MPI_REAL 8 bytes wide, so it
// decides which floats these are. `combiner` is MPI_COMBINER_NAMED, or what Contents has as
// `parametrised`.
Leaves leaves_of(MPI_Datatype type, int combiner, std::uint64_t size);

}  // namespace thinwire::mpi
