// Whether a collective may be compressed as a whole, before anything is asked of its communicator.
#pragma once

#include "shim/mpi/collective/part.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/native_reason.h"

namespace thinwire::mpi {

// kCompressed: it may, and `part` is filled in. Says the same on all ranks of a correct program:
// where arguments are wrong on one of them, the MPI's own call is to say so, if it does that before
// it sends anything. So it goes by what MPI
// requires equal, the type signature, never by datatypes or addresses, which are each rank's own.
// If signatures match in pairs alone, in calls that are compressed by name alone, that of `part`
// is open: agree_on_signature() is to be asked.
NativeReason may_compress(const CollectiveArguments& arguments, Part& part);

struct Collectives;
// Chooses its codec by what the communicator's ranks have agreed on, and judges it by that.
NativeReason may_compress_under_codec(const Collectives& kept, Part& part);

}  // namespace thinwire::mpi
