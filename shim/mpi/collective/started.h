// A collective that runs on a thread of the library while the program goes on, with a request of
// the MPI's own that completes with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/compress_whole.h"
#include "shim/mpi/collective/lists.h"
#include "shim/mpi/collective/may_compress.h"
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
  void run(CallQueue& queue, Waiting::Who who, const std::atomic<unsigned>& wanted);
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

// Non-blocking collectives that are compressed as a whole.

// Starts the call and gives the program a request of the MPI's own that completes with it; nothing,
// where the MPI is to start it. It is compressed as a whole if a blocking one would, by what
// blocking ones before it have made and agreed on, and where every rank may call the MPI from
// several threads, and has one to run it. Buffers must stay until the request is complete, as MPI
// has it.
std::optional<int> start(const CollectiveArguments& arguments, MPI_Request* request);

inline std::optional<int> start_if_wanted(const CollectiveArguments& arguments,
                                          MPI_Request* request) {
  if (is_captured()) [[unlikely]]
    capture_collective(arguments);
  if (!may_compress_whole()) return std::nullopt;
  return start(arguments, request);
}

}  // namespace thinwire::mpi
