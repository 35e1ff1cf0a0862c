#include "choose/changed_times.h"

#include <algorithm>
#include <cmath>

namespace thinwire::choose {
namespace {

// The logarithm of what such steps differ by, and standard deviations of their mean.
constexpr double kOdd = 0.7, kDeviations = 4.5;
// Steps in a row.
constexpr double kMost = 1 << 16;
constexpr double kMostUsual = 32;
// A timing round in vain is forgotten after so many.
constexpr std::uint64_t kForgives = 1024;
// All time is so often what the timing rounds cost.
constexpr double kPartOfTime = 200;

}  // namespace

void ChangedTimes::begin(const WayTimes& usual) {
  usual_ = usual;
  odd_ = {};
}

void ChangedTimes::pass(double nanoseconds) {
  all_ += nanoseconds;
  if (++steps_ % kForgives == 0) wanted_ = std::max(wanted_ / 2, kFewest);
}

void ChangedTimes::note(double nanoseconds) {
  if (usual_.number() <= 0) return;
  const double longer = std::log(std::max(nanoseconds, 1.0)) - usual_.mean_log();
  const bool is_odd = std::abs(longer) > kOdd;
  // Steps that were odd by chance tell how much steps differ.
  const bool ends_row = !is_odd || are_longer_ != (longer > 0);
  if (ends_row && usual_.number() < kMostUsual) usual_.add(odd_);
  if (ends_row) odd_ = {};
  are_longer_ = longer > 0;
  if (is_odd) {
    odd_.add(nanoseconds);
  } else if (usual_.number() < kMostUsual) {
    usual_.add(nanoseconds);
  }
}

bool ChangedTimes::are_odd() const {
  if (odd_.number() < wanted_) return false;
  // Chance makes no such row. The steps before it may be of both worlds.
  if (odd_.number() >= 2 * wanted_) return true;
  const double variance = usual_.variance() * (1 + usual_.number() / odd_.number());
  const double longer = odd_.mean_log() - usual_.mean_log();
  return longer * longer > kDeviations * kDeviations * variance;
}

bool ChangedTimes::ask_for_round() const { return are_odd() && price_ * kPartOfTime <= all_; }

void ChangedTimes::note_round(bool has_changed_way, double nanoseconds) {
  steps_ = 0;
  price_ += std::max(0.0, nanoseconds);
  wanted_ = has_changed_way ? kFewest : std::min(2 * wanted_, kMost);
}

}  // namespace thinwire::choose
