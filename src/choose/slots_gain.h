// Whether a call in slots may gain, predicted before anything is tried. Pure.
#pragma once

namespace thinwire::choose {

// The work of one call, in bytes of values.
struct SlotsWork {
  double native = 0;   // over a node's link, one way, by NCCL's own function
  double coded = 0;    // likewise by slots, if they were as large as the values
  double encoded = 0;  // by one rank
  double decoded = 0;
  double launches = 0;  // steps on its stream
  double messages = 0;  // posted by its host
};

// Seconds that it saves at the best that can be hoped for, on a link of that rate and with frames
// of 1 / `ratio` of the values; below 0: it cannot gain. 0 or no number for the rate: not known,
// and nothing is saved.
double hoped_gain_seconds(const SlotsWork& work, double link_bytes_per_second, double ratio);

// A host puts no more steps on a stream, and no more messages in a group of NCCL's, in this time.
inline constexpr int kStepNanoseconds = 2000, kMessageNanoseconds = 200;

// More steps or peers than these, and a call is only tried if it may gain: what they cost grows
// with ranks, and each new peer takes memory of NCCL's.
inline constexpr unsigned kMostSteps = 128, kMostPeers = 32;

}  // namespace thinwire::choose
