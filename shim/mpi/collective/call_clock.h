// Times a blocking collective that its kind wants timed, from when all ranks have come to it until
// all have done it: a root that goes ahead of the others would tell how long they take to fill a
// buffer.
#pragma once

#include <chrono>

#include "choose/call_kind.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

// The clock of one call, around the MPI's own or the library's.
class CallClock {
 public:
  CallClock() = default;
  ~CallClock() { stop(); }
  CallClock(const CallClock&) = delete;
  CallClock& operator=(const CallClock&) = delete;

  // The call is to be timed; `own` is the communicator that the program knows nothing of.
  void set(MPI_Comm own, choose::CallKind& of, bool is_coded) {
    own_ = own;
    of_ = &of;
    is_coded_ = is_coded;
  }

  // How the call ended. If ranks died or the communicator was revoked nothing is timed: others may
  // wait for this rank to say so, and not come to the end.
  int ended(int error) {
    if (error != MPI_SUCCESS && of_ != nullptr && is_of_lost_ranks(error)) of_ = nullptr;
    return error;
  }

  // Both are collective where the call is timed, which it is on all ranks, and nothing elsewhere.
  void start() {
    if (of_ != nullptr) [[unlikely]]
      begin();
  }
  void stop() {
    if (of_ != nullptr) [[unlikely]]
      end();
  }

 private:
  void begin();
  void end();

  MPI_Comm own_{};
  choose::CallKind* of_ = nullptr;
  bool is_coded_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace thinwire::mpi
