// Probing: a probe of the MPI shows wire sizes. Messages whose length is suspicious are pulled out
// of the MPI into their communicator's stash, and every later receive looks there first.
#pragma once

#include <memory>
#include <mutex>

#include "abi/mpi_abi.h"
#include "peers/peers.h"

namespace thinwire::mpi {

// What a probe found: nothing, a message that is still in the MPI, or one in the stash.
struct Found {
  bool any = false;
  bool stashed = false;
  MPI_Status status{};      // with the raw size
  int error = MPI_SUCCESS;  // the MPI's own; then nothing else counts
};

// One non-blocking look for the first message that matches, stash first.
Found look(MPI_Comm comm, int source, int tag);

// The first stashed message that matches, removed from its stash; its receive may still run.
std::unique_ptr<Stashed> take_stashed(MPI_Comm comm, int source, int tag);

// A matched message of a suspicious length, on its way into scratch.
std::unique_ptr<Stashed> start_receive(MPI_Message handle, const MPI_Status& status);

// Waits until the message is here; its status with the raw size.
const MPI_Status& complete(Stashed& message);

// Whether a message is one that a probe must not report as it is.
bool is_suspicious(const MPI_Status& status);

// Whether another thread's probe may pull the message of this receive at any moment.
bool may_be_pulled(MPI_Comm comm, int source);

// The stash of a communicator from the look into it until the receive is posted: a message that
// another thread's probe pulled between the two would be waited for in vain. Locks nothing where
// there is neither a stashed message nor another thread.
class StashLock {
 public:
  StashLock(MPI_Comm comm, int source);
  std::unique_ptr<Stashed> take(int source, int tag);
  void release() { lock_ = {}; }

 private:
  CommFacts* facts_ = nullptr;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace thinwire::mpi
