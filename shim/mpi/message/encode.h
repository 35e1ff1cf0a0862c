// The send side: whether a message is compressed, and its wire form.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/observe/attempt.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/pool.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// A message ready to travel in place of the user's.
struct Wire {
  // How the MPI is told of it: a frame; raw bytes in the user's own count and datatype; or raw
  // bytes as such, where that datatype has gaps.
  enum class Form { kFrame, kUsersType, kBytes };
  Form form = Form::kFrame;
  Lease data;  // empty where there is nothing to send
  std::uint64_t bytes = 0;
  std::uint64_t raw_bytes = 0;
  Attempt attempt{};  // of a frame
};

// The frame to send instead, or nothing where the message goes raw. Either is observed
// (observe/attempt.h); who has sent a frame calls observe_sent().
std::optional<Wire> encode(const Outgoing& message);

}  // namespace thinwire::mpi
