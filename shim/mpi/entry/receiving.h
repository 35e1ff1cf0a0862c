// Receives under way in the MPI, which an error handler may leave by a jump.
#pragma once

#include <cstdint>

#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/entry/receive_space.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// The space that the MPI writes to meanwhile. It is given up before an error handler runs.
class Receiving final : UnderWay {
 public:
  // `own`: what the MPI fills if it is to be delivered; the user's is then brought up to date.
  Receiving(const Destination& destination, ReceiveSpace& space, MPI_Status* own = nullptr,
            MPI_Status* user = MPI_STATUS_IGNORE)
      : destination_(destination), space_(space), own_(own), user_(user) {
    begin();
  }

  // False: a handler has run, and the space is gone.
  bool has_space() const { return !gave_up_; }

  // Delivers what the MPI has received with `error`. Returns that, or what went wrong here, not
  // raised.
  int deliver_now(int error);

  using UnderWay::end;

 private:
  void before_handler(int error) override;
  const Destination& destination_;
  ReceiveSpace& space_;
  MPI_Status* own_;
  MPI_Status* user_;
  bool gave_up_ = false;
};

// A blocking receive, delivered: `call(posted as, status)` is the MPI's.
template <typename Call>
int receive_and_deliver(const Incoming& message, std::uint64_t capacity, bool may_be_frame,
                        Call&& call, MPI_Status* status) {
  Destination destination;
  int error = find_destination(message, capacity, destination);
  destination.may_be_frame = destination.may_be_frame && may_be_frame;
  ReceiveSpace space;
  if (error == MPI_SUCCESS) error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  MPI_Status own{};  // stays empty where the MPI refuses the arguments
  Receiving receiving(destination, space, &own, status);
  error = call(PostedAs(destination, space), &own);
  const int outcome = receiving.deliver_now(error);
  return outcome == error ? error : raise(message.comm, outcome);
}

// The second step of a blocking receive that the program does not know to have two.
int complete_receive(MPI_Request request, MPI_Status* status);

}  // namespace thinwire::mpi
