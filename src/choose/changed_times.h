// Whether the times of a timing round are of another world than that which the program is in by
// now: its link has changed, or it does something else between its messages.
//
// Between timing rounds all steps go the way that was faster. If some of them in a row all take
// more than twice as long as that way's steps did, or less than half as long, a timing round has to
// tell anew which way is faster. Such timing rounds are no part of the usual ones' price: what they
// cost is a small part of all time, and if one of them changed nothing, more steps in a row have to
// ask for the next.
//
// A timing round of few steps may have met those in which compression gains, of a program whose
// other steps lose more. So if compressed steps take longer in the mean than raw ones did, a longer
// timing round tells anew.
#pragma once

#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class ChangedTimes {
 public:
  // After a timing round: what steps took of the way that is taken from now on. If that is the
  // compressed one, `raw_mean` is what raw steps took, else 0.
  void begin(const WayTimes& usual, double raw_mean);

  // A step took so long, in a timing round or not.
  void pass(double nanoseconds);
  // One that went that way, and belongs to no timing round.
  void note(double nanoseconds);

  // Whether there should be a timing round, and its price may be paid.
  bool ask_for_round() const;
  // Whether that one should be long.
  bool ask_for_long_round() const { return !are_odd() && gain_is_gone(); }

  // A timing round that was asked for has ended: another way is faster now, or not. It took so much
  // longer than if all of its steps had gone the way that was taken before.
  void note_round(bool was_long, bool has_changed_way, double nanoseconds);

 private:
  static constexpr double kFewest = 4, kFewestLater = 32;

  bool are_odd() const;
  bool gain_is_gone() const;

  WayTimes usual_, odd_;     // steps as they were, and those in a row that were others
  bool are_longer_ = false;  // these
  double wanted_ = kFewest;  // in a row
  WayTimes later_;           // all steps since the timing round
  double raw_mean_ = 0;
  double wanted_later_ = kFewestLater;
  std::uint64_t steps_ = 0;  // since a timing round
  double of_way_ = 0;        // steps since one that changed the way
  double all_ = 0;           // nanoseconds since the kind began
  double price_ = 0;         // of timing rounds
};

}  // namespace thinwire::choose
