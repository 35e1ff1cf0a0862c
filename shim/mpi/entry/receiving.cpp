#include "shim/mpi/entry/receiving.h"

#include "shim/mpi/message/completion.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

int Receiving::deliver_now(int error) {
  end();
  if (gave_up_) return error;
  const int outcome = deliver(destination_, space_, *own_, error);
  copy_status(*own_, user_);
  return outcome;
}

void Receiving::before_handler(int error) {
  gave_up_ = true;
  if (own_ != nullptr) {
    // As the MPI has left it: a message that it truncated is the user's.
    deliver(destination_, space_, *own_, error);
    copy_status(*own_, user_);
    return;
  }
  space_.reservation.end();
  space_.wire = Lease();
}

int complete_receive(MPI_Request request, MPI_Status* status) {
  Completion::ForOne space;
  Completion completion(1, &request, space);
  MPI_Status& native = completion.statuses()[0];
  completion.is_told({.native = &native, .users = status});
  const int error = real().Wait(completion.requests(), &native);
  return completion.complete(0, native, error, status);
}

}  // namespace thinwire::mpi
