// The clock of a blocking collective that is timed: in a timing round some calls of a kind run raw
// and others compressed, and their times decide how later ones run.
//
// A time begins when all ranks have come to the call and ends when all have done it, by barriers
// before and after it. Without these, a root that goes ahead of the others would measure how long
// they take to fill a buffer.
#pragma once

#include <chrono>

#include "choose/call_kind.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// The clock of one call, made before it and stopped after it, whether the MPI or the library
// carries the call out. Does nothing unless set() is called.
class CallClock final : UnderWay {
 public:
  CallClock() = default;
  ~CallClock() { stop(); }

  // Has the call timed for `of`, as a compressed one if `is_coded`. Barriers go over `own`, the
  // communicator that the program knows nothing of. All ranks must set the clock for the same
  // calls.
  void set(MPI_Comm own, choose::CallKind& of, bool is_coded) {
    own_ = own;
    of_ = &of;
    is_coded_ = is_coded;
  }

  // Takes the call's result and returns it. After a loss of ranks or a revocation the call is not
  // timed: another rank may wait for this one's report of it, and never come to the barrier at the
  // end.
  int ended(int error) {
    if (error != MPI_SUCCESS && of_ != nullptr && is_of_lost_ranks(error)) of_ = nullptr;
    return error;
  }

  // Collective over `own` if the clock is set.
  void start() {
    if (of_ != nullptr) [[unlikely]]
      begin();
  }
  void stop() {
    if (of_ != nullptr) [[unlikely]]
      end();
  }

 private:
  // The other ranks come to the end, too, while this one's handler may leave the call by a jump.
  void before_handler(int error) override {
    ended(error);
    stop();
  }
  void begin();
  void end();

  MPI_Comm own_{};
  choose::CallKind* of_ = nullptr;
  bool is_coded_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace thinwire::mpi
