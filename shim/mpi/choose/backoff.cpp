#include "shim/mpi/choose/backoff.h"

#include <algorithm>
#include <cmath>

namespace thinwire::mpi {
namespace {

// A channel that carries both kinds of data goes on sampling: a sample costs a small part of an
// attempt in vain.
constexpr std::uint8_t kSampledSuccesses = 64;

// Skips double up to the decline of this number.
constexpr std::uint32_t kLastDoubling = 8;
constexpr std::uint32_t kCycle = 2;

// What attempts in vain may cost, of the time of raw messages.
constexpr double kAttemptsShare = 0.005;

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
  return static_cast<std::uint8_t>(Backoff::kLongestSearch - 1 - declines % kCycle);
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

template <typename Change>
void Backoff::change(Change change) {
  State before = state_.load(std::memory_order_relaxed), after;
  do {
    after = before;
    change(after);
  } while (!state_.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

Effort Backoff::next(double asked) {
  State state = state_.load(std::memory_order_relaxed);
  while (state.skips > 0) {
    State after = state;
    const bool begins_anew = asks_much_less(asked, state.asked);
    after.skips = begins_anew ? 0 : state.skips - 1;
    if (begins_anew) after.declines = 0;
    if (state_.compare_exchange_weak(state, after, std::memory_order_relaxed)) {
      if (!begins_anew) return Effort::kSkip;
      break;
    }
  }
  return state.sampled > 0 ? Effort::kSampleFirst : Effort::kWhole;
}

std::uint32_t Backoff::most_skips(double attempt_seconds, double raw_seconds) {
  if (!(raw_seconds > 0)) return kLongestSearch;
  const double skips = std::ceil(attempt_seconds / (kAttemptsShare * raw_seconds));
  return static_cast<std::uint32_t>(std::min<double>(skips, kLongestSearch));
}

void Backoff::declined(double asked, std::uint32_t most) {
  change([asked, most](State& state) {
    const auto own = static_cast<float>(std::max(asked, 1.0));
    state.asked = state.declines == 0 ? own : std::min(state.asked, own);
    state.declines = one_more(state.declines);
    state.skips = skips_after(state.declines);
    if (state.skips > most) state.skips = varied(most, state.declines);
    state.sampled = kSampledSuccesses;
  });
}

void Backoff::succeeded() {
  const State state = state_.load(std::memory_order_relaxed);
  // What messages that shrink find always: nothing to write, no cache line taken from a thread.
  if (state.declines == 0 && state.sampled == 0) return;
  change([](State& changed) {
    changed.declines = 0;
    changed.skips = 0;
    if (changed.sampled > 0) --changed.sampled;
  });
}

void Backoff::doubt() {
  change([](State& state) { state.sampled = kSampledSuccesses; });
}

}  // namespace thinwire::mpi
