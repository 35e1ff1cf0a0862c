// The record that is kept with a communicator of the program for its compressed collectives.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "choose/link.h"
#include "shim/mpi/collective/call.h"
#include "shim/mpi/collective/kind_history.h"
#include "shim/mpi/collective/worker.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/native_reason.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Made in the first collective that may be compressed as a whole, on all ranks at once; if that
// is possible later communicators of the same ranks share it (groups.h). Used by the thread that is
// in a collective on the communicator, and MPI allows one at a time; the queue, while non-blocking
// collectives are on their way, by the worker.
struct Collectives {
  Collectives() = default;
  ~Collectives() { wait_for_started(); }
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  NativeReason why = NativeReason::kCompressed;  // else every collective here stays the MPI's own
  PrivateCommPointer own;                        // carries the messages; set under a lock
  int (*revoke)(MPI_Comm) = nullptr;             // after the communicator was revoked
  std::vector<std::int32_t> nodes;               // of its ranks
  std::uint64_t rules = 0;  // of the policy, that may take its calls: the same on all ranks
  choose::LinkRate link;    // by which its calls are planned: the same on all ranks
  std::uint64_t calls = 0;  // that were planned: the same on all ranks
  std::uint64_t next_agreement = 2;  // on the link, at the call of this number or after
  CallKinds kinds;                   // of its calls: the same on all ranks
  std::vector<int> world_ranks;      // its ranks in the job's world
  CallQueue queue;                   // for all but persistent collectives, which have one each
  Lists planned;                     // of a call that is planned while the queue is in use
  int next_tag = 1;                  // of the next queue: the same on all ranks
  int rank = 0;
  bool threads = false;        // every rank has MPI_THREAD_MULTIPLE
  bool may_be_shared = false;  // as every rank says
  int users = 0;               // communicators of the program
  bool is_shared = false;      // by all of its ranks, in their order (groups.h)
  bool wants_costs = false;    // on all ranks: a plan has found some missing
  bool wants_thread = false;   // a non-blocking collective would have been compressed
  // kNotNow, the same on all ranks: calls until it is tried again, and those of the last pause.
  std::uint32_t pause_left = 0, pause = 0;
  // State of non-blocking ones: kCompressed, as each rank has a thread (thread.h). The same on all
  // ranks.
  NativeReason unserved = NativeReason::kNotYet;
  std::uint64_t unserved_calls = 0;  // the same on all ranks
  std::shared_ptr<Worker> worker;    // of non-blocking collectives

  // Until the queue is the caller's.
  void wait_for_started() {
    if (worker) worker->run_until_idle();
  }
};

}  // namespace thinwire::mpi
