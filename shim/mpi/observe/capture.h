// THINWIRE_CAPTURE: a bounded sample of a program's large arrays, in files (`thinwire capture`).
#pragma once

#include <atomic>

#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

class Capturer;
namespace detail {
extern std::atomic<Capturer*> capturer;
}

inline bool is_captured() { return detail::capturer.load(std::memory_order_relaxed) != nullptr; }

// Makes the elements of an array lie one after the other in host memory; empty if that failed.
using CopyElements = Lease (*)(const void* buffer, MPI_Count count, MPI_Datatype type,
                               bool on_device, std::uint64_t bytes);

// Starts a capture; called after it is known who this rank is, and which ranks share its node and
// so the bound.
void start_capture(CopyElements copy);
void end_capture();

// The functions below write what is chosen at once, from the program's buffer, which they only
// read. If a file cannot be written that is said once a folder, and nothing more is captured.

// A message of the threshold or more, to that rank of the job; -1: of another job.
void capture_message(const Outgoing& message, int world_rank);

// Captures what this rank gives to a blocking or a non-blocking collective, if that lies in one
// piece.
void capture_collective(const CollectiveArguments& arguments);

}  // namespace thinwire::mpi
