// The classes of messages whose way is timed (plan/message_class.h): where to, type, size from one
// power of two to the next, codec.
#pragma once

#include <cstdint>

#include "peers/peers.h"
#include "plan/message_class.h"
#include "process/plan_log.h"

namespace thinwire::mpi {

struct TimedTurn {
  bool is_coded = false;
  bool is_trial = false;
  bool is_foreseen = false;          // that compression gains
  bool is_decided = false;           // by a trial
  double saving = 0;                 // nanoseconds a frame, if decided
  plan::MessageClass* of = nullptr;  // null: not of a class
};

// How the next message of a class goes. A peer has a class of its own from its eighth message on;
// those before are timed together with what goes to other peers, as many peers get few. Any thread.
TimedTurn next_turn(const PlanClass& of, int world_rank, const plan::Foreseen& foreseen,
                    bool begins_coded);

// A message whose turn was to be compressed became a frame.
void note_frame(const TimedTurn& turn);

}  // namespace thinwire::mpi
