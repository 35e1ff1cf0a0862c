// THINWIRE_CAPTURE: a bounded sample of a program's large arrays, in files (`thinwire capture`).
#pragma once

#include <atomic>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/message/encode.h"
#include "shim/mpi/state/asked.h"

namespace thinwire::mpi {

class Capturer;
namespace detail {
extern std::atomic<Capturer*> capturer;
}

inline bool is_captured() { return detail::capturer.load(std::memory_order_relaxed) != nullptr; }

// Once it is known who this rank is, and which ranks share its node and so the bound.
void start_capture();
void end_capture();

// The functions below write what is chosen at once, from the program's buffer, which they only
// read. Where a file cannot be written that is said once a folder, and nothing more is captured.

// A message of the threshold or more.
void capture_message(const Outgoing& message, const Peer& peer);

// Captures what this rank gives to a blocking or a non-blocking collective, if that lies in one
// piece.
void capture_collective(const Asked& asked);

}  // namespace thinwire::mpi
