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
// Compressed steps take so much of what raw ones did, in the mean.
constexpr double kGone = 1.05;
// A quarter of the steps tells if so many raw ones are lost by then.
constexpr double kSooner = 4;
// Phases that are followed have so many times the steps that ask.
constexpr double kPhase = 8;
// All time is so often what the timing rounds cost.
constexpr double kPartOfTime = 200;

}  // namespace

void ChangedTimes::begin(const WayTimes& usual, double raw_mean) {
  usual_ = usual;
  odd_ = later_ = {};
  raw_mean_ = raw_mean;
}

void ChangedTimes::pass(double nanoseconds) {
  all_ += nanoseconds;
  ++of_way_;
  if (++steps_ % kForgives != 0) return;
  wanted_ = std::max(wanted_ / 2, kFewest);
  wanted_later_ = std::max(wanted_later_ / 2, kFewestLater);
}

void ChangedTimes::note(double nanoseconds) {
  if (usual_.number() <= 0) return;
  later_.add(nanoseconds);
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

bool ChangedTimes::gain_is_gone() const {
  if (raw_mean_ <= 0 || later_.number() * kSooner < wanted_later_) return false;
  const double lost = later_.number() * (later_.mean() / raw_mean_ - 1);
  return later_.number() >= wanted_later_ ? later_.mean() > kGone * raw_mean_
                                          : lost * kSooner > wanted_later_;
}

bool ChangedTimes::ask_for_round() const {
  return (are_odd() || gain_is_gone()) && price_ * kPartOfTime <= all_;
}

void ChangedTimes::note_round(bool was_long, bool has_changed_way, double nanoseconds) {
  steps_ = 0;
  price_ += std::max(0.0, nanoseconds);
  double& wanted = was_long ? wanted_later_ : wanted_;
  // A change that comes back soon follows the program's phases too late to gain by them.
  const bool gains = has_changed_way && (was_long || of_way_ >= kPhase * wanted);
  wanted = gains ? (was_long ? kFewestLater : kFewest) : std::min(2 * wanted, kMost);
  if (has_changed_way) of_way_ = 0;
}

}  // namespace thinwire::choose
