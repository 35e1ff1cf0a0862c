// Finds out what a datatype is by what its constructors were given.
#pragma once

#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/values.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

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
