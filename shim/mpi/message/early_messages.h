// Probing: a probe of the MPI shows wire sizes. A message whose length is suspicious is matched,
// and before it those of its source that are older, whatever their tags; every later receive and
// probe looks for them first.
#pragma once

#include <memory>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/early_message.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// The result of a probe: nothing, a message that is still in the MPI, or an early one.
struct Found {
  bool any = false;
  int error = MPI_SUCCESS;  // the MPI's own; then nothing else counts
  MPI_Status status{};      // of one in the MPI
  std::shared_ptr<EarlyMessage> early;
  MPI_Message handle{};  // of one that was in the MPI, and was to be taken

  void tell(MPI_Status* to) const;
};

// One non-blocking look for the first message that matches, which is the caller's alone if he
// takes it. Never waits for a message to arrive.
enum class Take { kNo, kYes };
Found look(MPI_Comm comm, int source, int tag, Take take);

// Takes the first early message that matches.
std::shared_ptr<EarlyMessage> take_early(MPI_Comm comm, int source, int tag);

}  // namespace thinwire::mpi
