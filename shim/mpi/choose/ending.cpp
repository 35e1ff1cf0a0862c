#include "shim/mpi/choose/ending.h"

#include <utility>

#include "shim/mpi/choose/peers.h"

namespace thinwire::mpi {
namespace {

thread_local Ending* innermost = nullptr;

}  // namespace

Ending::Ending(MPI_Comm comm) : comm_(comm), outer_(std::exchange(innermost, this)) { begin(); }

Ending::~Ending() {
  end();
  leave();
}

void Ending::leave() {
  if (std::exchange(is_known_, false)) innermost = outer_;
  CommFacts* const kept = std::exchange(facts, nullptr);
  if (kept == nullptr) return;
  if (has_ended) {
    delete kept;
  } else {
    keep_facts(comm_, kept);
  }
}

// The MPI has not freed it: an attribute's function did not let it.
void Ending::before_handler(int) { leave(); }

Ending* Ending::of(MPI_Comm comm) {
  Ending* ending = innermost;
  while (ending != nullptr && ending->comm_ != comm) ending = ending->outer_;
  return ending;
}

}  // namespace thinwire::mpi
