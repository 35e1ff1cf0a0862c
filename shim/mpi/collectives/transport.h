// The MPI as what carries a compressed collective's bytes: spec/mpi-message.md, "Collectives".
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "abi/mpi_abi.h"
#include "collectives/pace.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// A communicator of the same processes in the same order, of which the program knows nothing, with
// errors returned. Collective over `comm`, which must be an intracommunicator; MPI_COMM_NULL where
// the MPI has no more of them, on every rank then.
MPI_Comm duplicate_privately(MPI_Comm comm);

// Messages of MPI_BYTE on a communicator that the program does not use, with a tag that nobody else
// uses there. One thread at a time, as tw_transport has it. What fails is logged, with the MPI's
// own class of error.
class MpiTransport {
 public:
  // The communicator stays the caller's and must outlive this.
  explicit MpiTransport(MPI_Comm comm, int tag = 0);
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  MPI_Comm comm() const { return comm_; }

  // Whose thread waits for messages.
  void set_pace(Pace::Who who) { pace_.set(who); }
  void share_processors() { pace_.share_processors(); }

  // What the MPI said of the first message that failed since it was last asked; MPI_SUCCESS else.
  int take_error() { return std::exchange(error_, MPI_SUCCESS); }

  // The table over this; its `release` is left to the caller.
  tw_transport table();

  tw_status send(int peer, const void* data, std::uint64_t bytes, std::uint64_t* request);
  tw_status receive(int peer, void* data, std::uint64_t capacity, std::uint64_t* request);
  tw_status test(std::uint32_t count, const std::uint64_t* requests, std::uint32_t* places,
                 std::uint64_t* bytes, std::uint32_t* done);

 private:
  struct Slot {
    MPI_Request request;
    bool receives = false;
  };
  std::uint64_t take_slot();
  tw_status failed(const char* what, int error);
  // `error` is what the MPI said when it was to begin the message in `slot`.
  tw_status started(std::uint64_t slot, int error, bool receives, std::uint64_t* request);

  MPI_Comm comm_;
  int tag_;
  int error_ = MPI_SUCCESS;
  Pace pace_;
  std::vector<Slot> slots_;  // by a request's number
  std::vector<std::uint64_t> free_;
  std::vector<MPI_Request> tested_;  // what a test hands to the MPI, kept for the next
  std::vector<MPI_Status> statuses_;
  std::vector<int> complete_;
};

}  // namespace thinwire::mpi
