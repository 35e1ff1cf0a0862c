// Datatypes of the program that are needed after it may have freed them.
#pragma once

#include <vector>

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

class OwnedTypes {
 public:
  OwnedTypes() = default;
  ~OwnedTypes() { release(); }
  OwnedTypes(const OwnedTypes&) = delete;
  OwnedTypes& operator=(const OwnedTypes&) = delete;

  // A type that stays until release(): `type` itself, if it cannot be freed.
  MPI_Datatype own(MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL || !is_derived(type)) return type;
    if (real().Type_dup(type, &type) == MPI_SUCCESS) owned_.push_back(type);
    return type;
  }

  // The type of each block, or the one of all; `blocks` of them are used.
  template <typename Side>
  void own_those_of(Side& side, int blocks) {
    if (blocks == 0) return;
    if (side.types == nullptr) {
      side.type = own(side.type);
      return;
    }
    std::vector<MPI_Datatype>& list = lists_.emplace_back();
    for (int block = 0; block < blocks; ++block) list.push_back(own(side.types[block]));
    side.types = list.data();
  }

  void release() {
    for (MPI_Datatype& type : owned_) real().Type_free(&type);
    owned_.clear();
  }

 private:
  std::vector<MPI_Datatype> owned_;
  std::vector<std::vector<MPI_Datatype>> lists_;
};

}  // namespace thinwire::mpi
