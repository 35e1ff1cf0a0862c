// Which messages of a channel are not worth an attempt: what became of the last ones decides.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

enum class Effort {
  kWhole,        // encode it
  kSampleFirst,  // encode pieces of it, and the whole where one shrank
  kSkip,         // send it raw
};

// Messages of one dtype to one peer. The second decline in a row lets the next message go raw, and
// each further one twice as many, below kLongestSearch: so many messages after data began to shrink
// again, one of them has been tried. Any thread may call at any time; without threads the same
// messages always meet the same answers.
//
// A decline says that the data did not shrink by the ratio that was asked for. Where much less is
// asked, as a link has become slower, it says nothing, and the next message is tried.
class Backoff {
 public:
  static constexpr std::uint32_t kLongestSearch = 64;

  // What to do with the next message, which it takes note of; by what ratio it has to shrink.
  Effort next(double asked = 1);

  // What became of an attempt. `most`: so many messages are skipped at most, where attempts cost
  // little against them.
  void declined(double asked = 1, std::uint32_t most = kLongestSearch);

  // The least skips that keep attempts of so many seconds a small part of raw messages.
  static std::uint32_t most_skips(double attempt_seconds, double raw_seconds);
  void succeeded();

  // Has messages sampled from the start, as after a decline.
  void doubt();

  // Declines in a row.
  std::uint32_t declines() const { return state_.load(std::memory_order_relaxed).declines; }

 private:
  struct State {
    std::uint16_t declines = 0;
    std::uint8_t skips = 0;    // messages still to be skipped
    std::uint8_t sampled = 0;  // successes until messages are no longer sampled
    float asked = 1;           // the least ratio that these declines did not reach
  };
  static_assert(std::atomic<State>::is_always_lock_free);

  template <typename Change>
  void change(Change change);

  std::atomic<State> state_{};
};

// To one peer, by dtype and, under a policy, codec: one that declines says little of another.
// Codecs beyond the first few share their channels.
class Channels {
 public:
  Backoff& of(tw_dtype dtype, unsigned codec) {
    return channels_[dtype + kDtypes * (codec % kCodecs)];
  }
  void doubt() {
    for (Backoff& channel : channels_) channel.doubt();
  }

 private:
  static constexpr std::size_t kDtypes = TW_F8_E5M2 + 1, kCodecs = 4;
  std::array<Backoff, kDtypes * kCodecs> channels_;
};

}  // namespace thinwire::mpi
