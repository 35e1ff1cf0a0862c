// The transport's messages in parts.
#include <algorithm>

#include "shim/mpi/collective/parts.h"
#include "shim/mpi/collective/transport.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

// A message is sent after the receiver has answered. So of what was sent no more waits there than
// the caller has memory for: the MPI keeps parts, and says at once that they are sent. A
// synchronous send would do without an answer of ours, but Open MPI 4.1 never completes it if it
// has two TCP connections to the receiver (decision 0108).
tw_status MpiTransport::send_in_parts(std::uint64_t number, const std::byte* data,
                                      std::uint64_t bytes) {
  Message& message = messages_[number];
  message.length = bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  int error = real().Isend(&message.length, 1, MPI_UINT64_T, message.peer, tag_of_lengths(tag_),
                           comm_, &request);
  tw_status status = begun(number, error, request);
  if (bytes > 0 && status == TW_OK) {
    error = real().Irecv(nullptr, 0, MPI_BYTE, message.peer, tag_of_answers(tag_), comm_, &request);
    status = begun(number, error, request);
  }
  for (std::uint64_t at = 0; at < bytes && status == TW_OK; at += kPartBytes) {
    const ByteCount as(std::min(kPartBytes, bytes - at));
    error = real().Isend(data + at, as.count(), as.type(), message.peer, tag_of_data(tag_), comm_,
                         &request);
    status = begun(number, error, request);
  }
  return status;
}

// Tells the sender that all parts are here. MPIs send what has no bytes at once, as a rule.
tw_status MpiTransport::answer(std::uint64_t number) {
  messages_[number].has_answered = true;
  MPI_Request request = MPI_REQUEST_NULL;
  int error = real().Isend(nullptr, 0, MPI_BYTE, messages_[number].peer, tag_of_answers(tag_),
                           comm_, &request);
  int is_sent = 0;
  if (error == MPI_SUCCESS) error = real().Test(&request, &is_sent, MPI_STATUS_IGNORE);
  return is_sent != 0 && error == MPI_SUCCESS ? TW_OK : begun(number, error, request);
}

tw_status MpiTransport::receive_length(std::uint64_t number, std::byte* into,
                                       std::uint64_t capacity) {
  Message& message = messages_[number];
  message.into = into;
  message.capacity = capacity;
  waiting_[message.peer].push_back(number);
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = real().Irecv(&message.length, 1, MPI_UINT64_T, message.peer,
                                 tag_of_lengths(tag_), comm_, &request);
  return begun(number, error, request);
}

tw_status MpiTransport::receive_parts(std::uint64_t number) {
  Message& message = messages_[number];
  message.has_parts = true;
  if (message.length > message.capacity) return failed("receive", MPI_ERR_TRUNCATE);
  tw_status status = TW_OK;
  for (std::uint64_t at = 0; at < message.length && status == TW_OK; at += kPartBytes) {
    const ByteCount as(std::min(kPartBytes, message.length - at));
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = real().Irecv(message.into + at, as.count(), as.type(), message.peer,
                                   tag_of_data(tag_), comm_, &request);
    status = begun(number, error, request);
  }
  return status;
}

// The MPI may tell of lengths in another order than they came in.
tw_status MpiTransport::took_length(std::uint64_t number) {
  messages_[number].has_length = true;
  std::deque<std::uint64_t>& waiting = waiting_[messages_[number].peer];
  while (!waiting.empty() && messages_[waiting.front()].has_length) {
    const std::uint64_t next = waiting.front();
    waiting.pop_front();
    if (const tw_status status = receive_parts(next); status != TW_OK) return status;
  }
  return TW_OK;
}

}  // namespace thinwire::mpi
