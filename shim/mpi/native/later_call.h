// A call that not every MPI of a handle ABI has.
#pragma once

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// Stands in for a call that the MPI lacks. No program gets here whose library shows the names of
// its MPI (exports.cmake); under another one it gets an error, and does not jump to address 0.
template <typename... Parameters>
int lacking(Parameters...) {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

template <typename Call>
class LaterCall;

template <typename... Parameters>
class LaterCall<int (*)(Parameters...)> {
 public:
  using Call = int (*)(Parameters...);

  void set(Call found) {
    if (found != nullptr) call_ = found;
  }
  bool is_there() const { return call_ != &lacking<Parameters...>; }
  int operator()(Parameters... arguments) const { return call_(arguments...); }

 private:
  Call call_ = &lacking<Parameters...>;
};

}  // namespace thinwire::mpi
