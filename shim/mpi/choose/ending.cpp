#include "shim/mpi/choose/ending.h"

#include <utility>

#include "shim/mpi/choose/peers.h"

namespace thinwire::mpi {
namespace {

thread_local Ending* innermost = nullptr;

}  // namespace

Ending::Ending(MPI_Comm comm) : comm_(comm), outer_(std::exchange(innermost, this)) {}

Ending::~Ending() {
  innermost = outer_;
  if (facts == nullptr) return;
  if (has_ended) {
    delete facts;
  } else {
    keep_facts(comm_, facts);
  }
}

Ending* Ending::of(MPI_Comm comm) {
  Ending* ending = innermost;
  while (ending != nullptr && ending->comm_ != comm) ending = ending->outer_;
  return ending;
}

}  // namespace thinwire::mpi
