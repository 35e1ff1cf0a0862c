// The constructor's arguments of a datatype.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// Facts that cost little to ask for: a constructor's arguments may be a million.
int combiner_of(MPI_Datatype type);
std::uint64_t arguments_of(MPI_Datatype type);

// The constructor's arguments. MPI_Type_get_contents hands out references to the parts, which the
// destructor gives back.
class Contents {
 public:
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  // One of MPI_COMBINER_; MPI_COMBINER_NAMED for every predefined type, those too that Fortran 90
  // describes by precision and range. Only others have the arguments below. A type made by a `_c`
  // constructor has them where its plain form has them.
  int combiner = MPI_COMBINER_NAMED;
  int parametrised = MPI_COMBINER_NAMED;  // how Fortran 90 made a predefined one, if it did
  std::vector<std::int64_t> integers;
  std::vector<std::int64_t> addresses;
  std::vector<MPI_Datatype> parts;
};

}  // namespace thinwire::mpi
