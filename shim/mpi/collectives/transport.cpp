#include "collectives/transport.h"

#include <string>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "abi/self.h"

namespace thinwire::mpi {
namespace {

MpiTransport& of(void* context) { return *static_cast<MpiTransport*>(context); }

}  // namespace

// The program's error handler stays where it is, so nothing may go wrong that it would be told of:
// every rank finds out by itself first whether its MPI has a communicator left.
MPI_Comm duplicate_privately(MPI_Comm comm) {
  const std::int32_t has_room = has_free_communicator() ? 1 : 0;
  std::int32_t all_have = 0;
  real().Allreduce(&has_room, &all_have, 1, MPI_INT32_T, MPI_MIN, comm);
  if (!all_have) return MPI_COMM_NULL;
  int rank = 0;
  real().Comm_rank(comm, &rank);
  MPI_Comm made = MPI_COMM_NULL;
  // A duplicate would call the program's attribute functions.
  if (real().Comm_split(comm, 0, rank, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  real().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

MpiTransport::MpiTransport(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}

tw_transport MpiTransport::table() {
  tw_transport table{};
  table.size = sizeof table;
  int rank = 0, ranks = 0;
  real().Comm_rank(comm_, &rank);
  real().Comm_size(comm_, &ranks);
  table.rank = rank;
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
  table.idle = [](void* context) { of(context).pace_.idle(); };
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

std::uint64_t MpiTransport::take_slot() {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::uint64_t slot = free_.back();
  free_.pop_back();
  return slot;
}

tw_status MpiTransport::started(std::uint64_t slot, int error, bool receives,
                                std::uint64_t* request) {
  if (error != MPI_SUCCESS) {
    free_.push_back(slot);
    return failed(receives ? "receive" : "send", error);
  }
  slots_[slot].receives = receives;
  *request = slot;
  return TW_OK;
}

tw_status MpiTransport::send(int peer, const void* data, std::uint64_t bytes,
                             std::uint64_t* request) {
  const ByteCount as(bytes);
  const std::uint64_t slot = take_slot();
  const int error =
      real().Isend(data, as.count(), as.type(), peer, tag_, comm_, &slots_[slot].request);
  return started(slot, error, false, request);
}

tw_status MpiTransport::receive(int peer, void* data, std::uint64_t capacity,
                                std::uint64_t* request) {
  const ByteCount as(capacity);
  const std::uint64_t slot = take_slot();
  const int error =
      real().Irecv(data, as.count(), as.type(), peer, tag_, comm_, &slots_[slot].request);
  return started(slot, error, true, request);
}

tw_status MpiTransport::test(std::uint32_t count, const std::uint64_t* requests,
                             std::uint32_t* places, std::uint64_t* bytes, std::uint32_t* done) {
  *done = 0;
  if (count == 0) return TW_OK;
  tested_.resize(count);
  statuses_.resize(count);
  complete_.resize(count);
  for (std::uint32_t at = 0; at < count; ++at) tested_[at] = slots_[requests[at]].request;
  int found = 0;
  const int error = real().Testsome(static_cast<int>(count), tested_.data(), &found,
                                    complete_.data(), statuses_.data());
  const bool apart = is_of_class(error, MPI_ERR_IN_STATUS);
  if (error != MPI_SUCCESS && !apart) return failed("wait", error);
  int worst = MPI_SUCCESS;
  for (int at = 0; at < found; ++at) {
    const auto place = static_cast<std::uint32_t>(complete_[at]);
    const std::uint64_t slot = requests[place];
    if (apart && statuses_[at].MPI_ERROR != MPI_SUCCESS) worst = statuses_[at].MPI_ERROR;
    MPI_Count received = 0;
    if (slots_[slot].receives) real().Get_elements_x(&statuses_[at], MPI_BYTE, &received);
    places[at] = place;
    bytes[at] = received < 0 ? 0 : static_cast<std::uint64_t>(received);
    free_.push_back(slot);
  }
  *done = found < 0 ? 0 : static_cast<std::uint32_t>(found);
  if (*done > 0) pace_.progress();
  return worst == MPI_SUCCESS ? TW_OK : failed("receive", worst);
}

}  // namespace thinwire::mpi
