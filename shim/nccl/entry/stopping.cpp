#include "entry/stopping.h"

#include "entry/group.h"
#include "entry/unfinished.h"
#include "state/communicators.h"
#include "state/settings.h"

namespace thinwire::nccl {

// Before NCCL waits for a thread or a stream of this process that waits here.
void stop_calls(ncclComm_t comm) {
  if (!settings().could_compress) return;
  Communicator* const known = begun(comm);
  if (known == nullptr) return;
  drop_unfinished(*known);
  with_begun(comm, [](Communicator* found) {
    if (found == nullptr) return;
    if (Compressor* const compressor = found->compressor.load()) {
      compressor->revoke();
    } else if (found->agreed) {
      found->agreed->revoke();
    }
  });
}

}  // namespace thinwire::nccl
