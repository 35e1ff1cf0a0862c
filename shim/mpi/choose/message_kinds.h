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

// How the next message of a kind goes. A peer has a kind of its own from its eighth message on;
// those before are timed together with what goes to other peers, as many peers get few. Any thread.
TimedTurn next_turn(const KindKey& of, int world_rank, const choose::Foreseen& foreseen,
                    bool begins_coded);

// A message whose turn was to be compressed became a frame.
void note_frame(const TimedTurn& turn);

// How many messages a program keeps in flight is learned from one at a time (choose/lag.h). Of a
// send that blocks the program has seen that it is complete as its thread sends the next; of one
// that does not, as a call says that its request is (choose/watched.h).
//
// This thread's last message has this request.
void watch_request(MPI_Request request);
// A watched request is complete; or the program let go of it.
void watched_is_complete(std::uintptr_t request);
void watched_is_lost(std::uintptr_t request);

}  // namespace thinwire::mpi
