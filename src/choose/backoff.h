// Which attempts are worth their time after some were in vain: one rule for messages, pieces of
// collectives, references and arrays of Dask.
#pragma once

#include <atomic>
#include <cstdint>

#include "choose/constants.h"

namespace thinwire::choose {

enum class Effort {
  kWhole,        // encode it
  kSampleFirst,  // encode pieces of it, and the whole if one shrank
  kSkip,         // leave it raw
};

// The second decline in a row lets the next message go raw, and each further one twice as many,
// below kLongestSearch: so many messages after data began to shrink again, one of them has been
// tried. The same messages always meet the same answers. For one thread at a time.
//
// A decline says that the data did not shrink by the ratio that was asked for. If much less is
// asked, as a link has become slower, it says nothing, and the next message is tried.
class Backoff {
 public:
  // Says what to do with the next message, and takes note of it; `asked`: by what ratio it has to
  // shrink.
  Effort next(double asked = 1);

  // Takes note of an attempt. `most`: so many messages are skipped at most, if attempts cost
  // little against them.
  void declined(double asked = 1, std::uint32_t most = kLongestSearch);
  void succeeded();

  // The least skips that keep attempts of so many seconds a small part of raw messages.
  static std::uint32_t most_skips(double attempt_seconds, double raw_seconds);

  // Has messages sampled from the start, as after a decline.
  void doubt();

  // Declines in a row.
  std::uint32_t declines() const { return declines_; }

  bool operator==(const Backoff&) const = default;

 private:
  std::uint16_t declines_ = 0;
  std::uint8_t skips_ = 0;    // messages still to be skipped
  std::uint8_t sampled_ = 0;  // successes until messages are no longer sampled
  float asked_ = 1;           // the least ratio that these declines did not reach
};

// The same for any threads at once. What changes nothing takes no cache line from another thread.
class SharedBackoff {
 public:
  Effort next(double asked = 1) {
    Effort attempt{};
    change([&](Backoff& of) { attempt = of.next(asked); });
    return attempt;
  }
  void declined(double asked = 1, std::uint32_t most = kLongestSearch) {
    change([&](Backoff& of) { of.declined(asked, most); });
  }
  void succeeded() {
    change([](Backoff& of) { of.succeeded(); });
  }
  void doubt() {
    change([](Backoff& of) { of.doubt(); });
  }
  std::uint32_t declines() const { return of_.load(std::memory_order_relaxed).declines(); }

 private:
  template <typename Change>
  void change(Change change) {
    Backoff before = of_.load(std::memory_order_relaxed), after;
    do {
      after = before;
      change(after);
    } while (!(after == before) &&
             !of_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }

  std::atomic<Backoff> of_{};
  static_assert(std::atomic<Backoff>::is_always_lock_free);
};

}  // namespace thinwire::choose
