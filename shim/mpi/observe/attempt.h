// The record of what became of one message, and the only functions that tell of it: counters, the
// log of choices, the trace and the capture.
#pragma once

#include <cstdint>

#include "shim/mpi/observe/plan_log.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

struct Attempt {
  Outgoing message{};
  std::uint64_t bytes = 0;          // as the program has them
  std::uint32_t dtype = TW_BYTES;   // that the codec takes them for
  tw_peer place = TW_PEER_UNKNOWN;  // the receiver's
  int world_rank = -1;              // the receiver's; -1: of another job
  bool is_known = true;             // the receiver; false: it could not be asked for now
  const CodecUse* use = nullptr;
  int rule = -1;    // of the policy, that named the codec; -1: none did
  Planned planned;  // as it was decided by

  tw_reason reason = TW_COMPRESS;
  NativeReason logged = NativeReason::kCompressed;  // the reason, as the log of choices has it
  std::uint64_t wire_bytes = 0;                     // of the frame
  std::uint64_t encode_nanoseconds = 0;             // that it took; 0: it was not tried
  std::uint64_t planned_encode_nanoseconds = 0;     // of a frame; 0: not known
  std::uint64_t raw_nanoseconds = 0;    // predicted for the message raw; 0: no rate is known
  std::uint64_t whole_nanoseconds = 0;  // as it went: encoding as measured, the rest as predicted
  std::uint64_t predicted_nanoseconds = 0;  // of a frame, before it is tried; 0 if no rate is known
  std::int64_t saved_nanoseconds = 0;       // by a frame: the raw time less the whole
};

// Counts and traces an attempt; called as soon as it is known what is sent: raw bytes or a frame.
void observe(const Attempt& attempt);

// Counts a frame that the MPI has taken.
void observe_sent(const Attempt& attempt);

// Whether somebody wants to know who the receiver is of a message that is not compressed in any
// case.
bool wants_receiver();

}  // namespace thinwire::mpi
