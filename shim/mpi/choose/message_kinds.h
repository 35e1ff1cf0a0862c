// The kinds of messages whose way is timed (choose/message_kind.h): where to, type, size from one
// power of two to the next, codec.
#pragma once

#include <cstdint>

#include "choose/message_kind.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/observe/plan_log.h"

namespace thinwire::mpi {

struct TimedTurn {
  bool is_coded = false;
  bool is_in_round = false;
  bool is_foreseen = false;           // that compression gains
  bool is_decided = false;            // by a timing round
  double saving = 0;                  // nanoseconds a frame, if decided
  choose::MessageKind* of = nullptr;  // null: not of a kind
};

// How the next message of a kind goes. A peer has a kind of its own from its ninth message on;
// those before are timed together with what goes to other peers, as many peers get few. Any thread.
TimedTurn next_turn(const KindKey& of, int world_rank, const choose::Foreseen& foreseen,
                    bool begins_coded);

// A message whose turn was to be compressed became a frame.
void note_frame(const TimedTurn& turn);

// Learns how many messages a program keeps in flight by watching one at a time (choose/lag.h). A
// blocking send is complete when its thread sends the next message; a non-blocking one when a call
// reports its request complete (choose/watched.h).
//
// This thread's last message has this request.
void watch_request(MPI_Request request);
// A watched request is complete.
void watched_is_complete(std::uintptr_t request);
// The program let go of a watched request: nobody will see its end.
void watched_is_lost(std::uintptr_t request);

}  // namespace thinwire::mpi
