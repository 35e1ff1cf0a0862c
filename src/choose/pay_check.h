// Whether coding pays, corrected by what attempts took: "never lose". Pure: no clock.
#pragma once

#include "plan/cost.h"

namespace thinwire::choose {

// Watches whether one codec pays on arrays of one kind, on one rank.
class Guard {
 public:
  // The codec's cost by now: as it was measured once, slowed down as the attempts since were.
  plan::CodecCost cost(const plan::CodecCost& measured) const;

  // Whether to code a message that is predicted to take so long raw, and coded at the most that can
  // be hoped for. Starts only for a clear gain and stops at the first loss. If it does not pay,
  // a message is tried all the same after the raw ones before it have paid for that.
  bool takes(double raw_seconds, double coded_seconds);

  // An attempt took `seconds` to encode what was predicted at `predicted` by the measured cost,
  // before any slowing down.
  void took(double predicted_seconds, double seconds);

  bool codes() const { return codes_; }
  double slowdown() const { return slowdown_; }

 private:
  double slowdown_ = 1;
  double credit_ = 0;  // seconds that a try may take
  bool codes_ = false;
};

// The ratio below which raw is faster, if coding takes so long besides the transfer; infinity
// where none is.
double least_ratio_of(double raw_seconds, double codec_seconds);

}  // namespace thinwire::choose
