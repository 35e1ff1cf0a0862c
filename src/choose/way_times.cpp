#include "choose/way_times.h"

#include <algorithm>
#include <cmath>

namespace thinwire::choose {
namespace {

// Times are believed to differ by so much of their mean, as if so many had been seen to.
constexpr double kUsualSpread = 0.1, kUsualNumber = 2;

}  // namespace

void WayTimes::add(double nanoseconds) {
  sum_ += nanoseconds;
  add_log(std::log(std::max(nanoseconds, 1.0)));
}

void WayTimes::add_log(double log) {
  number_ += 1;
  logs_ += log;
  squares_ += log * log;
}

void WayTimes::add(const WayTimes& more) {
  number_ += more.number_;
  sum_ += more.sum_;
  logs_ += more.logs_;
  squares_ += more.squares_;
}

void WayTimes::fade() {
  for (double* const each : {&number_, &sum_, &logs_, &squares_}) *each /= 2;
}

double WayTimes::variance() const {
  if (number_ <= 0) return 0;
  const double usual = kUsualNumber * kUsualSpread * kUsualSpread;
  return (differences() + usual) / (number_ + kUsualNumber - 1) / number_;
}

double WayTimes::differences() const {
  return std::max(0.0, squares_ - number_ * mean_log() * mean_log());
}

void BothWays::add(double nanoseconds, bool is_coded, double run, bool has_lag) {
  if (is_coded != is_batch_coded_) batch_ = {};
  is_batch_coded_ = is_coded;
  batch_.add(nanoseconds);
  if (has_lag && batch_.number() < run) return;
  const double time = batch_.mean(), times_of_run = has_lag ? 1 : run;
  batch_ = {};
  (is_coded ? ways_.coded : ways_.raw).add(time);
  (is_coded ? of_pair_.coded : of_pair_.raw).add(time);
  if (of_pair_.raw.number() < times_of_run || of_pair_.coded.number() < times_of_run) return;
  last_pair_ = of_pair_.raw.mean_log() - of_pair_.coded.mean_log();
  pairs_.add_log(last_pair_);
  of_pair_ = {};
}

void BothWays::fade() {
  ways_.raw.fade();
  ways_.coded.fade();
  pairs_.fade();
}

double BothWays::deviations_faster() const {
  if (!are_timed()) return 0;
  const double of_steps = raw().variance() + coded().variance();
  const double deviation = std::sqrt(std::max(of_steps, pairs_.variance()));
  return deviation > 0 ? (raw().mean_log() - coded().mean_log()) / deviation : 0;
}

double BothWays::part_slower(bool codes) const {
  const double logs = raw().mean_log() - coded().mean_log();
  return std::max(0.0, std::exp(codes ? logs : -logs) - 1);
}

}  // namespace thinwire::choose
