// The environment's policy for messages and collectives (docs/guide/policy.md).
#pragma once

#include <cstdint>

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

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

}  // namespace thinwire::mpi
