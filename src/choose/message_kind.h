// Whether messages of one kind are compressed, from what a program takes with them both ways.
// Pure: no clock, and the sender's alone, as the receiver reads what comes.
//
// The time of a send says little: over TCP it ends when the bytes are in the kernel's buffers. So
// steps are timed. One begins with a message of the kind, has all that follow before the program
// has waited for anything, and ends when the next begins: in it is all that compression changes,
// encoding, transfer, decoding, what ranks wait for each other, and what a program computes beside
// its messages.
//
// In timing rounds (choose/message_round.h) steps go both ways. Which steps these are depends on
// their numbers alone, so that ranks that exchange as many with each other have their timing rounds
// together: of two that send at once, one alone would find that nothing changes.
#pragma once

#include <cstdint>

#include "choose/alternation.h"
#include "choose/call_kind.h"
#include "choose/changed_times.h"
#include "choose/glance.h"
#include "choose/lag.h"
#include "choose/long_look.h"
#include "choose/message_round.h"
#include "choose/paid_later.h"
#include "choose/timing_price.h"
#include "choose/way_times.h"
#include "choose/what_came.h"

namespace thinwire::choose {

// How one message goes.
struct MessageTurn {
  bool is_coded = false;
  bool is_in_round = false;
};

class MessageKind {
 public:
  // `begins_coded`: until a first timing round messages are compressed, as somebody states a rate.
  explicit MessageKind(bool begins_coded) : codes_(begins_coded) {}

  // One of a single peer, which has had `messages` of `all`'s messages to all peers. If these were
  // not its own alone, it goes on as they do and begins to time anew.
  MessageKind(const MessageKind& all, std::uint64_t messages);

  // The next message is about to leave, at `nanoseconds` of any one clock. `waits` counts how often
  // the program has waited for something.
  MessageTurn next(const Foreseen& foreseen, std::uint64_t nanoseconds, std::uint64_t waits);

  // Before next(): messages that came to this process.
  void note_came(const Came& so_far) { came_.note(so_far); }

  // Whether the message that next() was asked about should be watched, and that it is, until the
  // program has seen that it is complete, or nobody will learn when it does. Before a first one was
  // complete there is no timing round.
  bool wants_watch() const { return lag_.wants_watch(position_ - 1); }
  void watch() { lag_.watch(position_ - 1); }
  bool is_watched() const { return lag_.is_watched(); }
  void note_complete() { lag_.complete(position_ - 1); }
  bool is_complete() const { return lag_.is_complete(); }
  // Before next(): so many messages are in the system's buffers.
  void end_watch(double under_way);
  void lose_watched() { lag_.lose(position_ - 1); }
  void drop_watched() { lag_.drop(); }

  // A message that was to be compressed became a frame. Steps in which none did are not timed as
  // compressed ones: data may not shrink.
  void made_frame() { ++frames_of_step_; }

  bool codes() const { return codes_; }
  std::uint32_t rounds() const { return rounds_; }
  // Whether both ways were timed.
  bool is_timed() const { return times_.are_timed(); }
  double raw_nanoseconds() const { return times_.raw().mean(); }
  double coded_nanoseconds() const { return times_.coded().mean(); }
  // The number of standard deviations by which compressed messages are faster.
  double deviations_faster() const { return times_.deviations_faster(); }

  // Nanoseconds that a frame saved, as timed.
  double saving() const;

 private:
  std::uint64_t lag() const;
  void note_time(std::uint64_t nanoseconds);
  void add_time(bool is_coded);
  void note_paid_later(bool went_coded);
  bool begin_anew_with_lag();
  void note_came_to_step();
  void suspect(bool is_late);
  bool begins_anew_late();
  bool is_of_look();
  void end_trials();
  void begin_anew();
  void note_usual(bool is_usual);
  void note_cost();
  bool has_shifted(const Foreseen& foreseen) const;
  void forget_times(const Foreseen& foreseen);
  bool is_due(const Foreseen& foreseen);
  MessageRound round_at(std::uint64_t position) const;
  void begin_round(const Foreseen& foreseen);
  void count_frames();
  bool is_hopeless();
  void begin_glance_or_round(const Foreseen& foreseen);
  bool begin_after_glance();
  void end_glance();
  std::uint64_t pause_coded(std::uint64_t lag, std::uint32_t doublings) const;
  void end_round();
  void decide();
  void note_end(bool codes_before);
  std::uint64_t pause() const;
  bool is_doubtful() const;
  std::uint64_t next_round(bool is_in_doubt) const;
  bool begins_step(const Foreseen& foreseen, std::uint64_t waits);
  MessageTurn turn_of_step(const Foreseen& foreseen);

  bool codes_ = false;
  bool is_in_round_ = false;
  bool is_asked_for_ = false;   // the timing round, by steps that took unlike earlier ones
  bool is_long_ = false;        // it is asked for, and is to meet all that the program does
  bool is_foreseen_ = false;    // that the step gains
  std::uint64_t messages_ = 0;  // so far
  std::uint64_t waits_ = 0;     // at the last one
  std::uint32_t together_ = 0;  // messages of the step
  std::uint64_t position_ = 0;  // of the next step
  Lag lag_;
  Alternation alternation_;
  PaidLater paid_later_;
  WhatCame came_;
  LongLook look_;
  bool is_late_ = false;       // messages are waited for some steps later
  bool is_suspected_ = false;  // that they are, as a look found
  bool was_coded_before_look_ = false;
  TimingPrice price_;
  Glance glance_;               // before each timing round of a program with a lag
  bool has_glanced_ = false;    // that timing round is due
  std::uint32_t glances_ = 0;   // in a row, after which none was
  std::uint64_t in_row_ = 0;    // steps that went the same way, the last ones
  std::uint64_t frame_at_ = 0;  // after the last step with a frame
  MessageRound round_;          // this one or the last
  WayTimes others_;             // steps of it that went the other way than those before it
  std::uint64_t due_ = 0;  // position of the next timing round; 0: as soon as compression may pay
  std::uint32_t rounds_ = 0;
  std::uint32_t confirmed_ = 0;  // in a row
  double gain_ = 0;              // foreseen at the last timing round, raw by compressed
  std::uint64_t last_ = 0;       // when the step began
  double last_took_ = 0;         // the step before, or two in the mean if steps alternate
  double took_alone_ = 0;        // that step
  double longest_raw_ = 0;       // lately
  double frames_of_step_ = 0;
  MessageTurn last_turn_, before_;  // the step's, and that of the step before
  bool was_turned_coded_ = false;   // the step before
  bool was_coded_ = false;          // with a frame
  BothWays times_;                  // of late timing rounds
  ChangedTimes changed_;
  WayTimes usual_;                 // steps between timing rounds that count as one
  double steps_ = 0, frames_ = 0;  // steps with frames, and these
};

}  // namespace thinwire::choose
