#include "shim/mpi/message/error_target.h"

#include <mutex>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"

namespace thinwire::mpi {

ErrorTarget::~ErrorTarget() {
  if (!replaced_) return;
  MPI_Comm own = comm();
  real().Comm_free(&own);
}

void ErrorTarget::replace() {
  if (replaced_) return;
  MPI_Errhandler handler;
  if (real().Comm_get_errhandler(comm(), &handler) != MPI_SUCCESS) return;
  const MPI_Comm own = new_self();
  real().Comm_set_errhandler(own, handler);
  real().Errhandler_free(&handler);
  replaced_ = true;
  comm_.store(own, std::memory_order_release);
}

ErrorTargetPointer error_target(MPI_Comm comm) {
  CommFacts& facts = comm_facts(comm);
  const std::lock_guard lock(facts.mutex);
  if (!facts.errors) facts.errors = std::make_shared<ErrorTarget>(comm);
  return facts.errors;
}

int Settled::raise() const { return target == nullptr ? error : mpi::raise(target->comm(), error); }

void forget_communicator(MPI_Comm comm) {
  CommFacts* facts = known_facts(comm);
  if (facts == nullptr) return;
  ErrorTargetPointer errors;
  {
    const std::lock_guard lock(facts->mutex);
    errors.swap(facts->errors);
  }
  if (errors != nullptr && errors.use_count() > 1) errors->replace();
}

}  // namespace thinwire::mpi
