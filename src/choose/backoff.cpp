#include "choose/backoff.h"

#include <algorithm>
#include <cmath>

namespace thinwire::choose {
namespace {

// A channel that carries both kinds of data goes on sampling: a sample costs a small part of an
// attempt in vain.
constexpr std::uint8_t kSampledSuccesses = 64;

// Skips double up to the decline of this number.
constexpr std::uint32_t kLastDoubling = 8;
constexpr std::uint32_t kCycle = 2;

std::uint16_t one_more(std::uint16_t declines) {
  // Back by a whole cycle rather than over.
  return static_cast<std::uint16_t>(declines == UINT16_MAX ? declines + 1 - kCycle : declines + 1);
}

// A single decline skips nothing, so that two kinds of data in turns do not hide each other. The
// longest skips differ by turns: attempts are 64 and 63 messages apart, together a prime number, so
// that sooner or later each message of a program that repeats itself is tried.
std::uint8_t skips_after(std::uint32_t declines) {
  if (declines < 2) return 0;
  if (declines < kLastDoubling) return static_cast<std::uint8_t>(1U << (declines - 2));
  return static_cast<std::uint8_t>(kLongestSearch - 1 - declines % kCycle);
}

// Shorter skips are of no one length either, or a program that repeats itself would keep step.
std::uint8_t varied(std::uint32_t most, std::uint32_t declines) {
  std::uint32_t mixed = declines * 0x9E3779B1U;
  mixed = (mixed ^ mixed >> 15) * 0x85EBCA77U;
  return static_cast<std::uint8_t>(most - std::min(most, mixed >> 30));
}

// Halving what is asked for each time, this ends.
bool asks_much_less(double now, double before) {
  return before > 1 && std::max(now, 1.0) - 1 <= (before - 1) / 2;
}

}  // namespace

Effort Backoff::next(double asked) {
  if (skips_ > 0) {
    const bool begins_anew = asks_much_less(asked, asked_);
    skips_ = begins_anew ? 0 : skips_ - 1;
    if (!begins_anew) return Effort::kSkip;
    declines_ = 0;
  }
  return sampled_ > 0 ? Effort::kSampleFirst : Effort::kWhole;
}

std::uint32_t Backoff::most_skips(double attempt_seconds, double raw_seconds) {
  if (!(raw_seconds > 0)) return kLongestSearch;
  const double skips = std::ceil(attempt_seconds * kShareOfTries / raw_seconds);
  return static_cast<std::uint32_t>(std::min<double>(skips, kLongestSearch));
}

void Backoff::declined(double asked, std::uint32_t most) {
  const auto own = static_cast<float>(std::max(asked, 1.0));
  asked_ = declines_ == 0 ? own : std::min(asked_, own);
  declines_ = one_more(declines_);
  skips_ = skips_after(declines_);
  if (skips_ > most) skips_ = varied(most, declines_);
  sampled_ = kSampledSuccesses;
}

void Backoff::succeeded() {
  declines_ = 0;
  skips_ = 0;
  if (sampled_ > 0) --sampled_;
}

void Backoff::doubt() { sampled_ = kSampledSuccesses; }

}  // namespace thinwire::choose
