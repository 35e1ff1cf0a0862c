// The record that is kept with a communicator of the program for its compressed collectives.
#pragma once

#include <atomic>
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

class Ending;

// Made in the first collective that may be compressed as a whole, on all ranks at once; if that
// is possible later communicators of the same ranks share it (groups.h). Used by the thread that is
// in a collective on the communicator, and MPI allows one at a time; the queue, while non-blocking
// collectives are on their way, by the worker.
struct Collectives {
  Collectives() = default;
  ~Collectives();  // after what was started
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
};

// The record that is kept already, or nullptr; one that is merely wanted says kNotYet or kNotNow.
Collectives* known_collectives(MPI_Comm comm);

// Collective over `comm`, an intracommunicator of several processes, if it was not asked for
// before. Waits for the non-blocking collectives on it, and learns the costs that they want.
Collectives& collectives_of(MPI_Comm comm);

// A non-blocking collective could have been compressed, and must not wait until this is made: the
// next call that may wait for the other ranks makes it. Local; to be called on all ranks alike.
void want_collectives_of(MPI_Comm comm);

// A non-blocking collective could have been compressed, if it were known what its codec costs, or
// the link's rate: the next call that may wait for the other ranks learns it. As above.
void want_costs(Collectives& kept);

// Collective: learns what is wanted, after all that was started, and the link's rate if that is
// due.
void learn_costs(Collectives& kept);

// Until the queue is the caller's.
void wait_for_started(Collectives& kept);

// To be called in each collective on `comm` that may wait for the other ranks.
extern std::atomic<std::uint64_t> wanted_collectives;
void make_wanted_collectives(MPI_Comm comm);
inline void make_if_wanted(MPI_Comm comm) {
  if (wanted_collectives.load(std::memory_order_relaxed) != 0) make_wanted_collectives(comm);
}

// Interrupts compressed collectives that wait on `comm`; called after the MPI's own revocation of
// it, which `revoke` is. From any thread.
void revoke_collectives_of(MPI_Comm comm, int (*revoke)(MPI_Comm));

// Before MPI_Comm_free and MPI_Comm_disconnect: what is kept with the communicator goes along with
// `ending`, as delete callbacks may call collectives, and ends or goes back after the MPI's call.
void take_collectives_along(Ending& ending);
void end_collectives_of(Ending& ending);

// Before MPI_Finalize where sessions go on, and before the MPI ends.
void release_collectives_of_world();
void release_collectives();

}  // namespace thinwire::mpi
