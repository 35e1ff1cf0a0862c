// The constructor's arguments of a datatype.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/values.h"
#include "thinwire/thinwire.h"

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

// Finds out what a datatype is by what its constructors were given.

struct TypeFacts {
  std::uint64_t size = 0;           // bytes of data in one element
  tw_dtype leaf = TW_BYTES;         // the one float type that all of it is made of, else TW_BYTES
  Values values = Values::kOthers;  // what MPI takes its values for; pairs if some are
  bool dense = false;  // elements lie in memory one after the other, in order, from byte 0
  // The array that one element is, slowest extent first: a subarray's, or a vector's blocks, of
  // single leaves. Rank 0 if it is none.
  std::uint32_t rank = 0;
  std::uint64_t extent[4] = {};
};

// Bytes of one element of a leaf.
constexpr std::uint64_t leaf_bytes(tw_dtype leaf) {
  if (leaf == TW_F16 || leaf == TW_BF16) return 2;
  return leaf == TW_F64 ? 8 : leaf == TW_F32 ? 4 : 1;
}

TypeFacts find_type_facts(MPI_Datatype type);

}  // namespace thinwire::mpi
