// Chooses how a message of the threshold or more goes, and learns from it.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/choose/channels.h"
#include "shim/mpi/choose/decide.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/observe/attempt.h"

namespace thinwire::mpi {

struct Chosen {
  Attempt attempt;  // so far; its reason says whether the message is to be tried
  TypeFacts type;
  Peer peer;
  Decision decision;
  Decision told;  // the same by the raw time that the report tells
  choose::SharedBackoff* channel = nullptr;
  choose::Effort effort = choose::Effort::kWhole;
};

// Nothing: the MPI is to judge, and refuse, the message's buffer or its type.
std::optional<Chosen> choose_for(const Outgoing& message);

// The outcome of trying a message; zeros if it was not tried.
struct Tried {
  tw_reason reason = TW_COMPRESS;
  std::uint64_t nanoseconds = 0;
  std::uint64_t wire_bytes = 0;
};

// Learns from that, also that nothing was tried, and completes the record of the attempt, whose
// reason says whether the frame is sent.
void learn(const Tried& tried, Chosen& chosen);

// The record of a send in a mode that is never compressed.
Attempt left_by_mode(const Outgoing& message);

}  // namespace thinwire::mpi
