// Whether the times of a timing round are of another world than that which the program is in by
// now: its link has changed, or it does something else between its messages.
//
// Between timing rounds all steps go the way that was faster. If some of them in a row all take
// more than twice as long as that way's steps did, or less than half as long, a timing round has to
// tell anew which way is faster. Such timing rounds are no part of the usual ones' price: what they
// cost is a small part of all time, and if one of them changed nothing, more steps in a row have to
// ask for the next.
#pragma once

#include <cstdint>

#include "choose/way_times.h"

namespace thinwire::choose {

class ChangedTimes {
 public:
  // After a timing round: what steps took of the way that is taken from now on.
  void begin(const WayTimes& usual);

  // A step took so long, in a timing round or not.
  void pass(double nanoseconds);
  // One that went that way, and belongs to no timing round.
  void note(double nanoseconds);

  // Whether there should be a timing round, and its price may be paid.
  bool ask_for_round() const;

  // A timing round that was asked for has ended: another way is faster now, or not. It took so much
  // longer than if all of its steps had gone the way that was taken before.
  void note_round(bool has_changed_way, double nanoseconds);

 private:
  static constexpr double kFewest = 4;

  bool are_odd() const;

  WayTimes usual_, odd_;     // steps as they were, and those in a row that were others
  bool are_longer_ = false;  // these
  double wanted_ = kFewest;  // in a row
  std::uint64_t steps_ = 0;  // since a timing round
  double all_ = 0;           // nanoseconds since the kind began
  double price_ = 0;         // of timing rounds
};

}  // namespace thinwire::choose
