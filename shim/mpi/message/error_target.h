// The target at which errors are raised: a communicator, or what stands in for one that the program
// has freed.
#pragma once

#include <atomic>
#include <memory>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// The target of one communicator, shared by its pending receives.
class ErrorTarget {
 public:
  explicit ErrorTarget(MPI_Comm comm) : comm_(comm) {}
  ~ErrorTarget();
  ErrorTarget(const ErrorTarget&) = delete;
  ErrorTarget& operator=(const ErrorTarget&) = delete;

  MPI_Comm comm() const { return comm_.load(std::memory_order_acquire); }

  // The communicator is about to be freed: a private one with its error handler takes its place.
  void replace();

 private:
  std::atomic<MPI_Comm> comm_;
  bool replaced_ = false;
};
using ErrorTargetPointer = std::shared_ptr<ErrorTarget>;

// The target at which the communicator's pending receives raise their errors.
ErrorTargetPointer error_target(MPI_Comm comm);

// The end of an operation, whose error may still have to be raised. It is raised last: an error
// handler may leave the call by a jump, which runs no destructor.
struct Settled {
  int error = MPI_SUCCESS;
  ErrorTargetPointer target;  // where to raise it; none: the MPI has, or there is nothing to raise

  // Returns the error.
  int raise() const;
};

// To be called before MPI_Comm_free and MPI_Comm_disconnect of `comm`. Errors of its pending
// receives are raised on a private communicator from here on.
void forget_communicator(MPI_Comm comm);

}  // namespace thinwire::mpi
