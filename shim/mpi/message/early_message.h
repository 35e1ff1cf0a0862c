// A message that a probe took out of the MPI's queue before the program's receive. Matched is not
// received: until somebody asks for its size the MPI has it as before, and its sender is none the
// wiser.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

class EarlyMessage : public std::enable_shared_from_this<EarlyMessage> {
 public:
  // `may_be_frame`: its size is not what the MPI says.
  EarlyMessage(MPI_Comm comm, MPI_Message handle, const MPI_Status& status, bool may_be_frame);
  ~EarlyMessage();
  EarlyMessage(const EarlyMessage&) = delete;
  EarlyMessage& operator=(const EarlyMessage&) = delete;

  MPI_Comm comm() const { return comm_; }
  bool may_be_frame() const { return may_be_frame_; }
  bool matches(int source, int tag) const;

  // The probe's status, with the raw size, or with a mark in its place where that is not known.
  void tell(MPI_Status* status);

  // For the one receive that gets it: a handle that nobody has used, or where its bytes are about
  // to be.
  struct Taken {
    bool in_scratch = false;
    MPI_Message handle;
    MPI_Request request;
    Lease wire;
  };
  Taken take();

  // Sets that receive's request, with a continuation; then its size.
  void wait_at(MPI_Request request);
  void received(std::uint64_t raw_bytes);

  // Waits for the message. Nothing: there was no memory for it.
  std::optional<std::uint64_t> size();

 private:
  enum class State { kMatched, kBusy, kInScratch, kTaken, kPending };
  class Busy;
  bool begin(std::unique_lock<std::mutex>& lock);
  void look_at_scratch(std::unique_lock<std::mutex>& lock);

  const MPI_Comm comm_;
  const MPI_Status status_;
  const std::uint64_t wire_bytes_;
  const bool may_be_frame_;

  std::mutex mutex_;  // guards all below; no call of the MPI that may raise errors under it
  State state_ = State::kMatched;
  MPI_Message handle_;
  MPI_Request request_;
  Lease wire_;
  std::optional<std::uint64_t> raw_bytes_;
  std::uint64_t mark_ = 0;
};

// The size that a status means: where it has a mark the message is waited for. Nothing: no mark.
// Too many marks later a size is forgotten (kForgotten).
constexpr std::uint64_t kForgotten = UINT64_MAX;
std::optional<std::uint64_t> size_by_mark(const MPI_Status& status);

}  // namespace thinwire::mpi
