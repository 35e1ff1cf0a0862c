#include "choose/glance.h"

#include <algorithm>
#include <cmath>

namespace thinwire::choose {
namespace {

// One of so many messages in flight goes the other way.
constexpr std::uint64_t kOneOf = 8;
// The other way is slower by so much of a step.
constexpr double kRawSlower = 0.25, kCodedSlower = 0.3;

}  // namespace

void Glance::begin(std::uint64_t position, std::uint64_t lag) {
  is_on_ = true;
  began_ = position;
  lag_ = lag;
  during_ = after_ = {};
}

std::uint64_t Glance::others(std::uint64_t lag) { return std::max<std::uint64_t>(1, lag / kOneOf); }

bool Glance::is_other(std::uint64_t position) const {
  return position >= began_ && position < began_ + others(lag_);
}

bool Glance::is_over(std::uint64_t position) const {
  return position >= began_ + others(lag_) + 2 * lag_;
}

void Glance::add(std::uint64_t position, double nanoseconds, bool is_usual, std::uint64_t lag) {
  if (is_on_) {
    (position < began_ + others(lag_) + lag_ ? during_ : after_).add(nanoseconds);
    return;
  }
  if (!is_usual) usual_ = {};
  if (!is_usual) return;
  usual_.add_late(nanoseconds, 2 * static_cast<double>(lag));
}

// Compared with the longer ones, so that steps that become longer or shorter all the same do not
// say that the other way is slower.
double Glance::more() const {
  const double usual = std::max(usual_.mean(), after_.mean());
  return usual > 0 ? during_.number() * (during_.mean() / usual - 1) : 0;
}

// Messages are not left compressed by chance, but may be left raw by it.
bool Glance::is_other_slower(bool codes) const {
  const auto steps = static_cast<double>(others(lag_));
  const double chance = std::sqrt(usual_.variance()) * static_cast<double>(lag_);
  return more() > (codes ? kRawSlower * steps + std::min(chance, steps) : kCodedSlower * steps);
}

}  // namespace thinwire::choose
