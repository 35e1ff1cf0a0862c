// What is kept with a communicator of the program for its compressed collectives.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "abi/mpi_abi.h"
#include "collectives/native.h"
#include "collectives/transport.h"
#include "collectives/worker.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Made in the first collective that may enter, on all ranks at once. Used by the thread that is in
// a collective on the communicator, and MPI allows one at a time; of non-blocking collectives that
// is the worker.
struct Collectives {
  NativeReason why = NativeReason::kCompressed;  // else every collective here stays the MPI's own
  MPI_Comm own = MPI_COMM_NULL;                  // carries the messages
  std::unique_ptr<MpiTransport> transport;
  tw_comm* comm = nullptr;
  int rank = 0;
  bool threads = false;            // every rank has MPI_THREAD_MULTIPLE
  std::unique_ptr<Worker> worker;  // once a non-blocking collective was started
  std::uint32_t explained = 0;     // bit_of() each call whose first choice has been told

  // Of the call under way, kept for the next: counts and displacements of both sides.
  std::vector<std::uint64_t> counts[2];
  std::vector<std::uint64_t> displacements[2];

  Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;
  ~Collectives();
};

// What is kept already, or nullptr.
Collectives* known_collectives(MPI_Comm comm);

// Collective over `comm`, an intracommunicator of several processes, where it was not asked for
// before. Waits for the non-blocking collectives on it.
Collectives& collectives_of(MPI_Comm comm);

// To be called before MPI_Comm_free and MPI_Comm_disconnect of `comm`.
void release_collectives_of(MPI_Comm comm);

// Before MPI_Finalize where sessions go on, and before the MPI ends.
void release_collectives_of_world();
void release_collectives();

}  // namespace thinwire::mpi
