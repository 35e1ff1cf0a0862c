// Whether every rank has a thread of the library to run what it starts. One whose system refuses it
// (RLIMIT_NPROC, pids.max of its cgroup) would go on only in MPI_Wait, and keep the others waiting.
//
// A non-blocking call cannot ask the other ranks, so the thread is there before the first: it is
// made with the first communicators, and with all after a non-blocking call has wanted one.
#pragma once

#include <cstdint>

#include "shim/mpi/collective/record.h"

namespace thinwire::mpi {

enum class Thread : std::uint8_t { kMade, kRefused, kNotTried };

// Collective over the private communicator, with nothing else of its own there: kCompressed if
// each rank has made one, kNoThread if one was refused, which says so; else kNotYet.
NativeReason all_have_thread(const Collectives& kept, Thread own);

// Collective: makes a thread for non-blocking collectives, and learns whether all have one.
void agree_on_thread(Collectives& kept);

// Whether a non-blocking collective that pays may run: kCompressed if every rank has a thread. Else
// the next call that may wait for the other ranks tries again, after the first such call and ever
// 1024 calls after it. Local; to be called on all ranks alike.
NativeReason may_run_started(Collectives& kept);

}  // namespace thinwire::mpi
