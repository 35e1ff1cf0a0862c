// A collective that runs on a thread of the library while the program goes on, with a request of
// the MPI's own that completes with it.
#pragma once

#include <atomic>
#include <memory>

#include "shim/mpi/collective/call_queue.h"
#include "shim/mpi/collective/may_compress.h"
#include "shim/mpi/collective/owned_lists.h"
#include "shim/mpi/collective/worker.h"
#include "shim/mpi/native/owned_types.h"
#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

// The program may free its datatypes and its lists meanwhile; its buffers must stay.
class Started {
 public:
  enum class Ends : bool {
    kWithItsRequest,  // begun once, and deletes itself
    kWithItsOwner,    // begun again and again, never before it is complete
  };
  Started(const CollectiveArguments& arguments, const Part& part, Ends ends);
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  // Makes the request, and has the worker run the call on the queue and complete it. Returns an
  // MPI error code. Where this ends with its request, nothing may be asked of it after success.
  int begin(const std::shared_ptr<Worker>& worker, CallQueue& queue, MPI_Request* request);

 private:
  void run(CallQueue& queue, Waiting::Who who);
  static int query(void* state, MPI_Status* status);
  static int end(void* state);

  CollectiveArguments arguments_;
  Part part_;
  Ends ends_;
  MPI_Request request_{};
  // Read in the thread that finds the request complete: what was received is there then.
  std::atomic<int> error_ = MPI_SUCCESS;
  OwnedTypes types_;
  OwnedLists lists_;
};

}  // namespace thinwire::mpi
