// Non-blocking and persistent collectives of the MPI's own with buffers in GPU memory that it
// cannot reach: from start to completion host memory stands in for them.
#pragma once

#include <memory>
#include <vector>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/stand_in_buffer.h"
#include "shim/mpi/native/owned_types.h"
#include "shim/mpi/state/collective_arguments.h"

namespace thinwire::mpi {

class StagedCollective : public Staged {
 public:
  // `reads_received`: the call leaves some of what it could write. Takes the host memory; if it
  // cannot, says so in the log and in prepared().
  StagedCollective(const CollectiveArguments& arguments, bool reads_received);

  // An MPI error code.
  int prepared() const { return prepared_; }
  const void* sent() const { return sent_.address(); }
  void* received() const { return received_.address(); }

  // Before each start: what the call reads is brought to the host. Returns what went wrong, raised.
  int load() override;

  // After each completion: what it wrote is brought to the GPU.
  Settled finish() override;

 private:
  struct Extent;
  StagedCollective(const CollectiveArguments& arguments, bool reads_received, const Extent& extent);
  CollectiveArguments with_own_types(CollectiveArguments arguments, const Extent& extent);

  OwnedTypes types_;
  CollectiveArguments arguments_;
  StandInBuffer sent_, received_;
  ErrorTargetPointer errors_;
  bool reads_received_;
  bool writes_;
  int prepared_;
};
using StagedCollectivePointer = std::shared_ptr<StagedCollective>;

// Host memory for a call, in `staged`, filled with `load`. A scan is asked for as an Allreduce,
// which has its sides. Returns what went wrong, raised.
int stage_collective(const CollectiveArguments& arguments, bool reads_received, bool load,
                     StagedCollectivePointer& staged);

// Gives the MPI staged buffers in the place of the call's.
inline void redirect(const StagedCollective& staged, const void*& sent, void*& received) {
  sent = staged.sent();
  received = staged.received();
}
inline void redirect(const StagedCollective& staged, void*& received) {
  received = staged.received();
}

// The MPI has started the call, or made its persistent request: the completion calls do the rest.
// Return what went wrong, raised.
int keep_started(StagedPointer staged, MPI_Request* request);
int keep_persistent(StagedPointer staged, MPI_Request* request);

}  // namespace thinwire::mpi
