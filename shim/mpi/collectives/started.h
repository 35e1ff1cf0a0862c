// A collective that runs on a thread of the library while the program goes on, with a request of
// the MPI's own that completes with it.
#pragma once

#include <atomic>

#include "abi/owned_types.h"
#include "collectives/asked.h"
#include "collectives/judge.h"
#include "collectives/lane.h"

namespace thinwire::mpi {

// The program may free its datatypes meanwhile; its buffers and lists must stay.
class Started {
 public:
  enum class Ends : bool {
    kWithItsRequest,  // begun once, and deletes itself
    kWithItsOwner,    // begun again and again, never before it is complete
  };
  Started(const Asked& asked, const Part& part, Ends ends);
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  // Makes the request. Returns an MPI error code.
  int begin(MPI_Request* request);

  // Runs what was begun, and completes the request. Nothing may be asked of this any more then,
  // where it ends with its request.
  void run(Lane& lane);

 private:
  static int query(void* state, MPI_Status* status);
  static int end(void* state);

  Asked asked_;
  Part part_;
  Ends ends_;
  MPI_Request request_{};
  // Read in the thread that finds the request complete: what was received is there then.
  std::atomic<int> error_ = MPI_SUCCESS;
  OwnedTypes types_;
};

// Whether the call has a schedule and a codec that takes its floats: the same on all ranks.
NativeReason judge_started(const Part& part);

}  // namespace thinwire::mpi
