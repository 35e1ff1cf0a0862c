// Times of steps that went raw and of steps that went compressed (choose/message_kind.h).
#pragma once

namespace thinwire::choose {

// Times of one way. Most are compared by their logarithms: what a busy machine adds makes a few of
// them very long, and ways differ by a factor.
class WayTimes {
 public:
  void add(double nanoseconds);
  void add_log(double log);
  void add(const WayTimes& more);
  // Half of what there is counts on.
  void fade();
  // One more: of the late ones, if there are `most`.
  void add_late(double nanoseconds, double most) {
    if (number_ >= most) fade();
    add(nanoseconds);
  }

  double number() const { return number_; }
  double mean() const { return number_ > 0 ? sum_ / number_ : 0; }
  double mean_log() const { return number_ > 0 ? logs_ / number_ : 0; }
  // The error of the mean logarithm. Few times that happen to be alike are not believed to be
  // exact.
  double variance() const;
  // Squared differences of the logarithms from their mean, all together.
  double differences() const;

 private:
  double number_ = 0, sum_ = 0, logs_ = 0, squares_ = 0;
};

class BothWays {
 public:
  BothWays() = default;
  BothWays(const WayTimes& raw, const WayTimes& coded) : ways_{raw, coded} {}

  // A step of a timing round whose runs have so many, and that count as one time if there is a
  // `lag`: of a program that keeps several messages in flight now and then a step waits for two,
  // and the next for none. Two runs beside each other that went both ways are a pair.
  void add(double nanoseconds, bool is_coded, double run, bool has_lag);
  // The times so far make no pair with those that come.
  void end_pair() { of_pair_ = {}, batch_ = {}, last_pair_ = 0; }
  void fade();

  const WayTimes& raw() const { return ways_.raw; }
  const WayTimes& coded() const { return ways_.coded; }
  const WayTimes& of(bool is_coded) const { return is_coded ? ways_.coded : ways_.raw; }
  bool are_timed() const { return raw().number() > 0 && coded().number() > 0; }

  // The number of standard deviations by which compressed steps are faster, of all steps or of
  // pairs, whichever is more: in a program of phases few steps of one way happen to be alike, and
  // those of the other to be of another phase, but not so in all pairs.
  double deviations_faster() const;
  // How much longer the other way takes than `codes`, as a part of what that takes; 0: no longer.
  double part_slower(bool codes) const;
  // The logarithm of what raw steps took by what compressed ones did, in the last pair.
  double last_pair() const { return last_pair_; }

 private:
  struct Ways {
    WayTimes raw, coded;
  };
  Ways ways_, of_pair_;
  WayTimes batch_;  // steps of one time
  bool is_batch_coded_ = false;
  WayTimes pairs_;  // raw by compressed, each
  double last_pair_ = 0;
};

}  // namespace thinwire::choose
