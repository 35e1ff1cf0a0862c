#include "choose/what_came.h"

namespace thinwire::choose {
namespace {

// By the logarithm. More steps tell of it than of a step before (choose/paid_later.h), as those
// outside of timing rounds do, too.
constexpr double kLeast = 0.1;
// Kinds of steps that are known, and steps of each.
constexpr std::size_t kKinds = 3;
constexpr double kFewest = 2;
constexpr double kMostTimes = 32;
// Steps in a row that tell nothing, as no message came or some of both ways did; steps in a row in
// which none of the other way came.
constexpr std::uint32_t kMostUnknown = 64, kMostSame = 64;
// By the logarithm, what a step's own compressed message may cost.
constexpr double kMostCost = 0.07;

}  // namespace

void WhatCame::end_step(double nanoseconds, std::optional<bool> is_coded) {
  const bool raw = now_.raw != before_.raw, coded = now_.coded != before_.coded;
  before_ = now_;
  way_ = raw == coded ? std::nullopt : std::optional(coded);
  unknown_ = way_ ? 0 : unknown_ + 1;
  const bool is_other = (raw && coded) || (way_ && way_ != last_);
  same_ = is_other ? 0 : same_ + 1;
  if (!way_) return;
  last_ = way_;
  if (is_coded) kinds_.add(nanoseconds, *is_coded, *way_);
  times_[*way_ ? 1 : 0].add_late(nanoseconds, kMostTimes);
}

bool WhatCame::find() {
  if (decides_ || kinds_.kinds_with(kFewest) < kKinds || !kinds_.tells(kLeast)) return false;
  decides_ = same_ < kMostSame && !speaks_for_cost();
  return decides_;
}

bool WhatCame::speaks_for_cost() const {
  return times_[1].mean_log() < times_[0].mean_log() && kinds_.own_cost() > kMostCost;
}

bool WhatCame::end_if_over(bool codes) {
  const bool is_stale = unknown_ >= kMostUnknown || (codes && same_ >= kMostSame);
  if (!decides_ || !(is_stale || speaks_for_cost())) return false;
  const Came so_far = now_;
  *this = {};
  now_ = before_ = so_far;
  return true;
}

}  // namespace thinwire::choose
