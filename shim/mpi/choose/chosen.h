// Chooses how a message of the threshold or more goes, and learns from it.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/choose/decide.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/observe/attempt.h"
#include "shim/mpi/state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// The environment's policy for messages and collectives (docs/guide/policy.md).

// The codec of a message or a call, and the rule that named it; -1: none did.
struct Choice {
  const CodecUse* use = nullptr;
  int rule = -1;
  tw_dtype holds = TW_BYTES;  // what the rule says of bytes and 16-bit integers
};

// Chooses by this rank alone, by the communicator's present name. `place`: tw_peer_place.
Choice choose_for_message(MPI_Comm comm, const TypeFacts& type, std::uint64_t bytes,
                          std::uint32_t place);

// The rules that may take calls on `comm`, as this rank calls it now.
std::uint64_t rules_by_name(MPI_Comm comm);

// `dtype` is TW_BYTES for bytes and 16-bit integers. By what all ranks know: `rules`, which they
// have compared. No codec: it depends on a size that no rank knows (`bytes` is kNotKnown).
constexpr std::uint64_t kNotKnown = UINT64_MAX;
Choice choose_for_collective(std::uint64_t rules, std::uint32_t operation, std::uint32_t dtype,
                             std::uint64_t bytes, bool within_node);

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
