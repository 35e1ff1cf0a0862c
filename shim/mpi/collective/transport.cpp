#include "shim/mpi/collective/transport.h"

#include <string>

#include "shim/mpi/collective/parts.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

MpiTransport& of(void* context) { return *static_cast<MpiTransport*>(context); }

// The MPI's error for a communicator that was revoked; MPI_SUCCESS for others. Open MPI 5 alone has
// a call that tells.
int revocation_of([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  using Query = int (*)(MPI_Comm, int*);
  static const auto query = reinterpret_cast<Query>(find_symbol("PMPIX_Comm_is_revoked"));
  constexpr int kRevoked = 77;  // its MPI_ERR_REVOKED, which no older header has
  int is_revoked = 0;
  if (query != nullptr && query(comm, &is_revoked) == MPI_SUCCESS && is_revoked) return kRevoked;
#endif
  return MPI_SUCCESS;
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm, int tag, std::vector<std::int32_t> nodes)
    : comm_(comm), tag_(tag), nodes_(std::move(nodes)) {
  real().Comm_rank(comm_, &rank_);
}

// After a failure the MPI may still receive a length: its memory stays.
MpiTransport::~MpiTransport() {
  if (!open_.empty()) new std::deque<Message>(std::move(messages_));
}

void MpiTransport::set_rate(double rate) {
  const bool pays = kAnswersWait && pays_in_parts(rate, nodes_);
  if (pays && !parts_) {
    tw_log(TW_LOG_DEBUG, "messages of collectives to other nodes travel in parts");
  }
  parts_ = pays;
}

bool MpiTransport::uses_parts(int peer) const {
  return parts_ &&
         nodes_[static_cast<std::size_t>(peer)] != nodes_[static_cast<std::size_t>(rank_)];
}

tw_transport MpiTransport::table() {
  tw_transport table{};
  table.size = sizeof table;
  int ranks = 0;
  real().Comm_size(comm_, &ranks);
  table.rank = rank_;
  table.ranks = ranks;
  table.context = this;
  table.send = [](void* context, std::int32_t peer, const void* data, std::uint64_t bytes,
                  std::uint64_t* request) { return of(context).send(peer, data, bytes, request); };
  table.receive = [](void* context, std::int32_t peer, void* data, std::uint64_t capacity,
                     std::uint64_t* request) {
    return of(context).receive(peer, data, capacity, request);
  };
  table.test = [](void* context, std::uint32_t count, const std::uint64_t* requests,
                  std::uint32_t* places, std::uint64_t* bytes, std::uint32_t* done) {
    return of(context).test(count, requests, places, bytes, done);
  };
  table.idle = [](void* context) { of(context).waiter_.idle(); };
  return table;
}

tw_status MpiTransport::failed(const char* what, int error) {
  int error_class = error;
  real().Error_class(error, &error_class);
  tw_log(TW_LOG_ERROR, (std::string("a compressed collective cannot ") + what +
                        ": the MPI's error class " + std::to_string(error_class))
                           .c_str());
  if (is_of_class(error, MPI_ERR_TRUNCATE)) return TW_TOO_SMALL;  // a damaged message
  if (error_ == MPI_SUCCESS) error_ = error;
  return TW_INTERNAL;
}

std::uint64_t MpiTransport::take_message(int peer, bool receives) {
  if (free_.empty()) {
    free_.push_back(messages_.size());
    messages_.emplace_back();
  }
  const std::uint64_t number = free_.back();
  free_.pop_back();
  messages_[number] = {.peer = peer, .receives = receives, .in_parts = uses_parts(peer)};
  return number;
}

tw_status MpiTransport::begun(std::uint64_t number, int error, MPI_Request request) {
  Message& message = messages_[number];
  if (error != MPI_SUCCESS) return failed(message.receives ? "receive" : "send", error);
  ++message.left;
  open_.push_back(request);
  whose_.push_back(number);
  return TW_OK;
}

tw_status MpiTransport::send(int peer, const void* data, std::uint64_t bytes,
                             std::uint64_t* request) {
  *request = take_message(peer, false);
  if (messages_[*request].in_parts) {
    return send_in_parts(*request, static_cast<const std::byte*>(data), bytes);
  }
  const ByteCount as(bytes);
  MPI_Request made = MPI_REQUEST_NULL;
  const int error =
      real().Isend(data, as.count(), as.type(), peer, tag_of_data(tag_), comm_, &made);
  return begun(*request, error, made);
}

tw_status MpiTransport::receive(int peer, void* data, std::uint64_t capacity,
                                std::uint64_t* request) {
  *request = take_message(peer, true);
  if (messages_[*request].in_parts) {
    return receive_length(*request, static_cast<std::byte*>(data), capacity);
  }
  const ByteCount as(capacity);
  MPI_Request made = MPI_REQUEST_NULL;
  const int error =
      real().Irecv(data, as.count(), as.type(), peer, tag_of_data(tag_), comm_, &made);
  return begun(*request, error, made);
}

// Takes a request that is complete.
tw_status MpiTransport::take(std::uint64_t number, const MPI_Status& status) {
  Message& message = messages_[number];
  --message.left;
  if (!message.receives) return TW_OK;
  if (message.in_parts && !message.has_length) return took_length(number);
  if (message.has_answered) return TW_OK;
  MPI_Count received = 0;
  real().Get_elements_x(&status, MPI_BYTE, &received);
  message.bytes += received < 0 ? 0 : static_cast<std::uint64_t>(received);
  return message.wants_answer() ? answer(number) : TW_OK;
}

void MpiTransport::close_complete(int count) {
  constexpr std::uint64_t kNone = UINT64_MAX;
  for (int at = 0; at < count; ++at) whose_[static_cast<std::size_t>(complete_[at])] = kNone;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < open_.size(); ++at) {
    if (whose_[at] == kNone) continue;
    open_[kept] = open_[at];
    whose_[kept++] = whose_[at];
  }
  open_.resize(kept);
  whose_.resize(kept);
}

// Open MPI frees sends on a revoked communicator when they are tested, and ends the process when it
// is done with one that was freed: there they stay open.
tw_status MpiTransport::test_open() {
  if (open_.empty()) return TW_OK;
  if (const int revoked = revocation_of(comm_); revoked != MPI_SUCCESS) {
    return failed("wait", revoked);
  }
  statuses_.resize(open_.size());
  complete_.resize(open_.size());
  int found = 0;
  const int error = real().Testsome(static_cast<int>(open_.size()), open_.data(), &found,
                                    complete_.data(), statuses_.data());
  const bool apart = is_of_class(error, MPI_ERR_IN_STATUS);
  if (error != MPI_SUCCESS && !apart) return failed("wait", error);
  if (found <= 0) return TW_OK;
  waiter_.progress();
  int worst = MPI_SUCCESS;
  tw_status status = TW_OK;
  for (int at = 0; at < found; ++at) {
    const std::uint64_t number = whose_[static_cast<std::size_t>(complete_[at])];
    if (apart && statuses_[at].MPI_ERROR != MPI_SUCCESS) {
      worst = statuses_[at].MPI_ERROR;
    } else if (status == TW_OK) {
      status = take(number, statuses_[at]);
    }
  }
  close_complete(found);
  return worst == MPI_SUCCESS ? status : failed("receive", worst);
}

tw_status MpiTransport::test(std::uint32_t count, const std::uint64_t* requests,
                             std::uint32_t* places, std::uint64_t* bytes, std::uint32_t* done) {
  *done = 0;
  if (count == 0) return TW_OK;
  if (const tw_status status = test_open(); status != TW_OK) return status;
  for (std::uint32_t at = 0; at < count; ++at) {
    const Message& message = messages_[requests[at]];
    if (!message.is_complete()) continue;
    places[*done] = at;
    bytes[*done] = message.bytes;
    ++*done;
    free_.push_back(requests[at]);
  }
  return TW_OK;
}

}  // namespace thinwire::mpi
