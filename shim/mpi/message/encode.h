// The send side: whether a message is compressed, and its wire form.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/native/mpi_abi.h"
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
  // 0 where the link's rate is not known.
  std::uint64_t predicted_nanoseconds = 0;
  std::uint64_t predicted_raw_nanoseconds = 0;  // had it gone raw
  // That, less what it takes: encoding as measured, transfer and decoding as predicted.
  std::int64_t saved_nanoseconds = 0;
  int rule = -1;  // of the policy
};

// Counts a frame as sent unless the MPI refused it; returns `error`, the MPI's own.
int count_sent(const Wire& wire, int error);

// Counts a send in a mode that is never compressed.
void count_mode(const Outgoing& message);

// The frame to send instead, or nothing where the message goes raw (counted by reason).
std::optional<Wire> encode(const Outgoing& message);

}  // namespace thinwire::mpi
