// Receives of messages that are matched: by probes of the library, or by the program's.
#include <memory>
#include <utility>

#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/entry/receive_space.h"
#include "shim/mpi/entry/receiving.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_message.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Memory that the MPI must not be given as it is: a GPU's, or bytes of an active receive.
bool may_be_shared(const Incoming& message) {
  return message.on_device ? must_be_staged(true) : process().in_place.reservations() != 0;
}

// As the MPI would receive it: nothing to decode, and nobody else's bytes.
bool is_plain(const Incoming& message, std::uint64_t capacity, bool may_be_frame,
              MPI_Message handle) {
  return capacity == 0 || handle == MPI_MESSAGE_NO_PROC ||
         (!may_be_frame && !may_be_shared(message));
}

int receive_by_handle(const Incoming& message, bool may_be_frame, MPI_Message* handle,
                      MPI_Status* status) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  if (is_plain(message, capacity, may_be_frame, *handle)) {
    return real().Mrecv(plain_buffer(message), message.count, message.type, handle, status);
  }
  const auto call = [&](const PostedAs& as, MPI_Status* own) {
    return real().Mrecv(as.data(), as.count(), as.type(), handle, own);
  };
  return receive_and_deliver(message, capacity, may_be_frame, call, status);
}

int receive_by_handle_later(const Incoming& message, const std::shared_ptr<EarlyMessage>& early,
                            MPI_Message* handle, MPI_Request* request) {
  const std::uint64_t capacity = message_bytes(message.count, message.type);
  const bool may_be_frame = early && early->may_be_frame();
  if (is_plain(message, capacity, may_be_frame, *handle)) {
    if (early) early->received(0);  // nobody looks at it any more
    return real().Imrecv(plain_buffer(message), message.count, message.type, handle, request);
  }
  Destination destination;
  int error = find_destination(message, capacity, destination);
  destination.may_be_frame = may_be_frame;
  ReceiveSpace space;
  if (error == MPI_SUCCESS) error = find_receive_space(destination, space);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  const PostedAs as(destination, space);
  Receiving receiving(destination, space);
  error = real().Imrecv(as.data(), as.count(), as.type(), handle, request);
  receiving.end();
  if (error != MPI_SUCCESS || !receiving.has_space()) return error;
  ContinuationPointer continuation = make_receive_continuation(std::move(space), destination);
  continuation->early = early;
  put_continuation(*request, std::move(continuation));
  return error;
}

// One whose size was asked for.
int receive_from_scratch_later(EarlyMessage::Taken taken,
                               const std::shared_ptr<EarlyMessage>& early, const Incoming& message,
                               MPI_Request* request) {
  Destination destination;
  const int bad =
      find_destination(message, message_bytes(message.count, message.type), destination);
  if (bad != MPI_SUCCESS) {
    early->received(0);
    real().Wait(&taken.request, MPI_STATUS_IGNORE);  // it writes to scratch until then
    taken.wire = Lease();
    return raise(message.comm, bad);
  }
  destination.may_be_frame = true;
  *request = taken.request;
  if (!destination.on_device) ++process().counters.receives_through_scratch;
  ContinuationPointer continuation =
      make_receive_continuation({std::move(taken.wire), {}}, destination);
  continuation->early = early;
  put_continuation(*request, std::move(continuation));
  return MPI_SUCCESS;
}

// The receive of an early message. Who asks for its size waits until it is told, so it is told
// before an error handler may leave the receive by a jump.
class Telling final : UnderWay {
 public:
  explicit Telling(std::shared_ptr<EarlyMessage> early, MPI_Status* user = MPI_STATUS_IGNORE)
      : early_(std::move(early)), user_(user) {
    begin();
  }

  MPI_Status& status() { return status_; }
  void tell() {
    end();
    if (early_) early_->received(wire_bytes_of(status_));
    copy_status(status_, user_);
  }
  using UnderWay::end;

 private:
  void before_handler(int) override {
    tell();
    early_.reset();
  }
  std::shared_ptr<EarlyMessage> early_;
  MPI_Status* user_;
  MPI_Status status_{};
};

}  // namespace

int receive_early(std::shared_ptr<EarlyMessage> early, const Incoming& message,
                  MPI_Status* status) {
  EarlyMessage::Taken taken = early->take();
  const bool may_be_frame = early->may_be_frame();
  if (taken.in_scratch) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = receive_from_scratch_later(std::move(taken), early, message, &request);
    early.reset();
    return error == MPI_SUCCESS ? complete_receive(request, status) : error;
  }
  Telling telling(std::move(early), status);
  const int error = receive_by_handle(message, may_be_frame, &taken.handle, &telling.status());
  telling.tell();
  return error;
}

int receive_early_later(std::shared_ptr<EarlyMessage> early, const Incoming& message,
                        MPI_Request* request) {
  EarlyMessage::Taken taken = early->take();
  int error = MPI_SUCCESS;
  if (taken.in_scratch) {
    error = receive_from_scratch_later(std::move(taken), early, message, request);
  } else {
    Telling telling(early);
    error = receive_by_handle_later(message, early, &taken.handle, request);
    telling.end();
  }
  if (error == MPI_SUCCESS) {
    early->wait_at(*request);
  } else {
    early->received(0);
  }
  return error;
}

int receive_matched(const Incoming& message, MPI_Message* handle, MPI_Status* status) {
  return receive_by_handle(message, false, handle, status);
}

int receive_matched_later(const Incoming& message, MPI_Message* handle, MPI_Request* request) {
  return receive_by_handle_later(message, nullptr, handle, request);
}

}  // namespace thinwire::mpi
