// Whether calls of one kind are compressed, from what they took both ways: blocking collectives,
// steps of training, transfers of arrays. Pure: all ranks come to the same, as they count the same
// calls, foresee the same and are told, at the same calls, what they have agreed on. Who decides
// alone agrees with himself.
//
// In a timing round (choose/timing_round.h) some calls go each way and are timed.
#pragma once

#include <cstdint>

#include "choose/timing_round.h"

namespace thinwire::choose {

// The plan's prediction for a call.
struct Foreseen {
  double raw_seconds = 0;
  double coded_seconds = 0;
  bool pays = false;

  // Raw by compressed. A cost that was never measured makes the time infinite or no number.
  double gain() const { return coded_seconds > 0 ? raw_seconds / coded_seconds : 0; }
  // Whether it is of another link than the timing round was that had this gain: it speaks for the
  // other way by so much more.
  bool has_shifted(bool codes, double gain_then) const {
    return codes ? gain() * kShift < gain_then : pays && gain() > gain_then * kShift;
  }
};

// How one call goes.
struct CallTurn {
  bool is_coded = false;
  bool is_timed = false;  // CallKind::took() is to be told
  bool is_in_round = false;
};

struct KindOptions {
  bool once = false;                  // what was decided first holds, as the results depend on it
  bool begins_coded = false;          // calls are compressed before the first timing round, too
  bool is_timing_free = false;        // a time costs nothing: all compressed calls may be timed
  std::uint32_t calls = kTimedAlone;  // of each way in a timing round: a power of two from 2 to 8
};

class CallKind {
 public:
  explicit CallKind(const KindOptions& options) : options_(options), codes_(options.begins_coded) {}
  explicit CallKind(bool once) : CallKind(KindOptions{.once = once}) {}

  // Whether the ranks have to agree before the next call: adopt() then takes the largest of what
  // each has as own().
  bool is_due() const;
  RoundTimes own() const { return own_.get(); }
  // True: there is a new decision.
  bool adopt(const RoundTimes& largest);

  // Each call of the kind that may wait for the other ranks, in their order.
  CallTurn next(const Foreseen& foreseen);
  void took(bool is_coded, std::uint64_t nanoseconds) { own_.add(is_coded, nanoseconds); }

  // Whether a call that waits for nobody is compressed. Between the same calls on all ranks.
  bool codes(const Foreseen& foreseen);

  bool is_decided() const { return decided_ > 0; }
  std::uint32_t rounds() const { return decided_; }
  bool codes() const { return codes_; }
  const RoundTimes& times() const { return took_; }  // of the last decision

  // Nanoseconds that a compressed call took less than a raw one on average, as this rank timed both
  // for the last decision. The short times, by which ranks decide, come seldom on a busy network.
  std::int64_t saving() const { return saving_; }

  // A fingerprint of all that is the same on all ranks.
  std::uint64_t fingerprint() const;

 private:
  bool wants_round(const Foreseen& foreseen) const;
  void begin_round(const Foreseen& foreseen);
  CallTurn turn_in_round();
  bool is_watched_now() const;
  std::uint32_t watched_together() const;
  void adopt_watched(const RoundTimes& largest);
  void decide(const RoundTimes& largest, std::uint32_t calls_timed);

  KindOptions options_;
  bool codes_;                 // by the last decision
  bool was_foreseen_ = false;  // that it pays, of calls that wait for nobody
  bool is_in_round_ = false;
  bool is_spread_ = false;      // the timing round
  bool has_hope_ = false;       // it is open after its first calls, neither lost nor sure
  std::uint32_t position_ = 0;  // of the next call in the timing round
  std::uint32_t decided_ = 0;
  std::uint32_t confirmed_ = 0;  // in a row
  std::uint64_t calls_ = 0;      // since the last decision
  std::uint64_t pause_ = 0;      // calls from there to the next timing round
  double gain_ = 0;              // foreseen at the last timing round, raw by compressed
  RoundTimes took_;
  RoundTally own_;  // what is not agreed on yet
  std::int64_t saving_ = 0;
  std::uint32_t watched_ = 0;  // calls in that, between timing rounds
  std::uint32_t quiet_ = 0;    // times that these were agreed on and all was well
};

}  // namespace thinwire::choose
