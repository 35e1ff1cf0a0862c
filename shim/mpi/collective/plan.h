// Whether a collective that may be compressed as a whole pays, as tw_comm_plan() has it: where it
// does not, it stays the MPI's own.
#pragma once

#include "shim/mpi/collective/call_clock.h"
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/may_compress.h"

namespace thinwire::mpi {

// Plans a blocking call, with the communicator's queue idle: as its kind is decided by what calls
// took both ways (choose/call_kind.h), unless compression is forced. `clock` is set if the call is
// to be timed. Collective if a cost is to be learned, or the ranks agree on what calls took.
NativeReason plan_blocking(const Part& part, tw_collective& collective, Collectives& kept,
                           CallClock& clock);

// Plans a call that waits for nobody. Local: what is on its way on the queue goes on meanwhile.
//
// A kind that blocking calls have decided is followed; of another one the plan's prediction holds.
//
// Every rank must come to the same answer, while its worker has come further or less far with what
// was started before. So the answer follows from what MPI requires equal, the settings, and costs
// that change in a fixed order. They are learned by the program's thread alone, in a call that may
// wait for the other ranks (blocking, or an initialisation) and that first waits for all that was
// started; the worker learns none (TW_AS_AGREED). MPI has all collective calls on a communicator
// come in one order on all ranks: at the nth of them every rank knows the costs of the same calls
// before it, and what blocking calls have decided. And as no cost is learned while something is on
// its way, the worker's own plan of a call is the one that was made here.
//
// kCostUnknown: a cost is missing, and the next call that may wait learns it. If the signature
// is open the call is compressed if it pays for one type of floats that it may turn out to be.
NativeReason plan_started(const CollectiveArguments& arguments, const Part& part,
                          Collectives& kept);

// Plans a persistent call, at its initialisation, which may wait: an open signature is agreed on,
// and a missing cost is learned. Its starts, whose order is each rank's own, then decide nothing.
NativeReason plan_persistent(const CollectiveArguments& arguments, Part& part, Collectives& kept);

}  // namespace thinwire::mpi
