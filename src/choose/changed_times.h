// Whether the times of a trial are of another world than that which the program is in by now: its
// link has changed, or it does something else between its messages.
//
// Between trials all rounds go the way that was faster. If some of them in a row all take more than
// twice as long as that way's rounds did, or less than half as long, a trial has to tell anew which
// way is faster. Such trials are no part of the usual ones' price: what they cost is a small part
// of all time, and if one of them changed nothing, more rounds in a row have to ask for the next.
#pragma once

#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class ChangedTimes {
 public:
  // After a trial: what rounds took of the way that is taken from now on.
  void begin(const WayTimes& usual);

  // A round took so long, in a trial or not.
  void pass(double nanoseconds);
  // One that went that way, and belongs to no trial.
  void note(double nanoseconds);

  // Whether there should be a trial, and its price may be paid.
  bool ask_for_trial() const;

  // That trial has ended: another way is faster now, or not. It took so much longer than if all of
  // its rounds had gone the way that was taken before.
  void note_trial(bool has_changed_way, double nanoseconds);

 private:
  static constexpr double kFewest = 4;

  bool are_odd() const;

  WayTimes usual_, odd_;      // rounds as they were, and those in a row that were others
  bool are_longer_ = false;   // these
  double wanted_ = kFewest;   // in a row
  std::uint64_t rounds_ = 0;  // since a trial
  double all_ = 0;            // nanoseconds since the class began
  double price_ = 0;          // of trials
};

}  // namespace thinwire::choose
