// Types of the values of predefined datatypes.
#pragma once

#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

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

// `size` is the datatype's. A Fortran compiler's options can make MPI_REAL 8 bytes wide, so it
// decides which floats these are. `combiner` is MPI_COMBINER_NAMED, or what Contents has as
// `parametrised`.
Leaves leaves_of(MPI_Datatype type, int combiner, std::uint64_t size);

}  // namespace thinwire::mpi
