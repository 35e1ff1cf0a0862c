// Whether messages of one class are compressed, from what a program takes with them both ways.
// Pure: no clock, and the sender's alone, as the receiver reads what comes.
//
// What a send takes says little: over TCP it ends when the bytes are in the kernel's buffers. So
// rounds are timed. One begins with a message of the class, has all that follow before the program
// has waited for anything, and ends when the next begins: in it is all that compression changes,
// encoding, transfer, decoding, what ranks wait for each other, and what a program computes beside
// its messages.
//
// In a trial rounds go raw, compressed, compressed and raw, in runs of one length. Which rounds
// these are depends on their numbers alone, so that ranks that exchange as many with each other
// have their trials together: of two that send at once, one alone would find that nothing changes.
#pragma once

#include <cstdint>

#include "plan/call_class.h"

namespace thinwire::plan {

// Times of one way, of late trials. Most are compared by their logarithms: what a busy machine adds
// makes a few of them very long, and ways differ by a factor.
class WayTimes {
 public:
  void add(double nanoseconds);
  // Half of what there is counts on.
  void fade();

  double number() const { return number_; }
  double mean() const { return number_ > 0 ? sum_ / number_ : 0; }
  double mean_log() const { return number_ > 0 ? logs_ / number_ : 0; }
  // Of the mean logarithm. Few times that happen to be alike are not believed to be exact.
  double variance() const;

 private:
  double number_ = 0, sum_ = 0, logs_ = 0, squares_ = 0;
};

// How one message goes.
struct MessageTurn {
  bool is_coded = false;
  bool is_trial = false;
};

class MessageClass {
 public:
  // `begins_coded`: until a first trial messages are compressed, as somebody states a rate.
  explicit MessageClass(bool begins_coded) : codes_(begins_coded) {}

  // One of a single peer, which has had `messages` of `all`'s messages to all peers. If these were
  // not its own alone, it goes on as they do and begins to time anew.
  MessageClass(const MessageClass& all, std::uint64_t messages);

  // The next message is about to leave, at `nanoseconds` of any one clock. `waits` counts how often
  // the program has waited for something.
  MessageTurn next(const Foreseen& foreseen, std::uint64_t nanoseconds, std::uint64_t waits);

  // A message that was to be compressed became a frame. Rounds in which none did are not timed as
  // compressed ones: data may not shrink.
  void made_frame() { ++frames_of_round_; }

  bool codes() const { return codes_; }
  std::uint32_t trials() const { return trials_; }
  // Whether both ways were timed.
  bool is_timed() const { return raw_.number() > 0 && coded_.number() > 0; }
  double raw_nanoseconds() const { return raw_.mean(); }
  double coded_nanoseconds() const { return coded_.mean(); }

  // Nanoseconds that a frame saved, as timed.
  double saving() const;

 private:
  void note_time(std::uint64_t nanoseconds);
  bool has_shifted(const Foreseen& foreseen) const;
  bool is_due(const Foreseen& foreseen);
  void begin_trial(const Foreseen& foreseen);
  void count_frames();
  void end_trial();
  double deviations_faster() const;
  double part_slower() const;
  std::uint64_t pause() const;
  bool begins_round(const Foreseen& foreseen, std::uint64_t waits);
  MessageTurn turn_of_round(const Foreseen& foreseen);

  bool codes_ = false;
  bool is_on_trial_ = false;
  bool is_foreseen_ = false;    // that the round gains
  std::uint64_t messages_ = 0;  // so far
  std::uint64_t waits_ = 0;     // at the last one
  std::uint32_t together_ = 0;  // messages of the round
  std::uint64_t position_ = 0;  // of the next round
  std::uint64_t began_ = 0;     // the trial, at this position
  std::uint64_t due_ = 0;       // position of the next trial; 0: as soon as compression may pay
  std::uint32_t run_ = 1;       // rounds in a run of the trial
  std::uint32_t trials_ = 0;
  std::uint32_t confirmed_ = 0;  // in a row
  double gain_ = 0;              // foreseen at the last trial, raw by compressed
  std::uint64_t last_ = 0;       // when the round began
  double last_took_ = 0;         // the round before
  double frames_of_round_ = 0;
  MessageTurn last_turn_;  // the round's
  WayTimes raw_, coded_;
  double rounds_ = 0, frames_ = 0;  // rounds with frames, and these
};

}  // namespace thinwire::plan
