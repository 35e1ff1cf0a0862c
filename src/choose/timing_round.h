// Whether calls of one kind are compressed, from what they took both ways. Pure: whoever measures
// sees to it that all who decide have the same figures.
//
// A timing round times some calls as they go now, and as many the other way. What a stream waits
// for a late rank makes a time too long, never too short; so the least of several count, and of
// several ranks the one that needs longest. A way that is quick at times and slow at most others
// has a short least time all the same, so the sums of the times have to agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checksum_core.h"

namespace thinwire::choose {

// A name of the rules below, which ranks must have alike: builds with others compress nothing
// together.
inline constexpr const char* kTimingRules = "later rounds spread, sums too";

// Nanoseconds of each way; 0: none was measured.
struct RoundTimes {
  std::uint64_t raw = 0;
  std::uint64_t coded = 0;
  // Sums by the number of calls, as MeanTime has them; 0: not measured, and the others decide.
  std::uint64_t raw_mean = 0;
  std::uint64_t coded_mean = 0;
  constexpr bool has_means() const { return raw_mean != 0 && coded_mean != 0; }
  bool operator==(const RoundTimes&) const = default;
};

// Calls of each way that a timing round has. `span` is the largest group. A group is timed as a
// whole, so a round has 3 * span calls: at least two whole groups then go the same way.
inline constexpr std::uint32_t kTimedAlone = 8;  // of calls that no group has
inline constexpr std::uint32_t kMostTimed = 1024;
constexpr std::uint32_t calls_of_round(std::uint32_t span) {
  if (span <= 1) return kTimedAlone;
  return std::clamp(span > kMostTimed ? kMostTimed : 3 * span, kTimedAlone + 1, kMostTimed);
}

// How a call goes in a timing round, by its number there.
struct RoundPosition {
  bool is_timed = false;
  bool is_other_way = false;
};

// The first timing round has two runs, so that it is over soon; so have those of groups. A link
// that is slow for the time of one run makes that way slow, whichever it is. So later timing rounds
// are spread: they take one call of four, at places of their own, and of two such calls one goes
// the other way.
inline constexpr std::uint32_t kSpreadCalls = 64;
constexpr RoundPosition position_in_round(std::uint64_t position, std::uint64_t round,
                                          std::uint32_t calls) {
  constexpr std::uint64_t kOneOf = kSpreadCalls / (2 * kTimedAlone);
  if (round <= 1 || calls != kTimedAlone) {
    return {position < 2 * calls, position >= calls && position < 2 * calls};
  }
  const std::uint64_t part = position / kOneOf;
  const auto drawn = [&](std::uint64_t what) { return checksum_mix(checksum_mix(round) + what); };
  const bool is_timed = part < 2 * calls && position % kOneOf == drawn(part) % kOneOf;
  const bool is_other = (part % 2 == 0) == (drawn(~(part / 2)) % 2 == 0);
  return {is_timed, is_timed && is_other};
}

// The typical time of one way, from the times that are known: the second least of four or more, as
// one may be short by chance; of fewer the least. Calls of a group have nearly one time.
class TypicalTime {
 public:
  // 0: nobody knows.
  constexpr void add(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return;
    ++known_;
    for (std::uint64_t& least : least_) {
      if (least == 0 || nanoseconds < least) std::swap(least, nanoseconds);
      if (nanoseconds == 0) return;
    }
  }
  constexpr std::uint64_t get() const { return least_[std::min(known_ / 4, kKept - 1)]; }

 private:
  static constexpr std::uint32_t kKept = 2;
  std::uint32_t known_ = 0;
  std::uint64_t least_[kKept] = {};
};

// The mean time of the calls of one way. The longest of four or more is left out: one slow moment
// of the network, or one late rank, is no property of a way and would hide all others.
class MeanTime {
 public:
  // 0: nobody knows.
  constexpr void add(std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return;
    ++known_;
    others_ = sum(others_, std::min(longest_, nanoseconds));
    longest_ = std::max(longest_, nanoseconds);
  }
  constexpr std::uint64_t get() const {
    if (known_ == 0) return 0;
    return known_ < 4 ? sum(others_, longest_) / known_ : others_ / (known_ - 1);
  }

 private:
  static constexpr std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
    return one + std::min(other, UINT64_MAX - one);
  }
  std::uint64_t known_ = 0, others_ = 0, longest_ = 0;
};

// To begin compressing it has to gain a twentieth, to go on not to lose: figures that differ by
// chance do not move a kind back and forth. The means, which chance moves more, have to agree: a
// gain that is taken back by calls that now and then take long is none.
constexpr bool pays(const RoundTimes& took, bool is_coded_now) {
  if (took.raw == 0 || took.coded == 0) return false;
  if (!(is_coded_now ? took.coded <= took.raw : took.coded < took.raw - took.raw / 20))
    return false;
  const std::uint64_t chance = is_coded_now ? took.raw_mean / 50 : 0;
  return !took.has_means() || took.coded_mean <= took.raw_mean + chance;
}

// By how much of the quicker way the slower one takes longer.
constexpr double share_lost(std::uint64_t one, std::uint64_t other) {
  const std::uint64_t less = std::max<std::uint64_t>(std::min(one, other), 1);
  const std::uint64_t more = std::max(one, other);
  return static_cast<double>(more - std::min(less, more)) / static_cast<double>(less);
}

// Calls from the end of one timing round to the next, where `confirmed` of them in a row have come
// to the same. Few where both take about as long: a first finding may be of a GPU that was not
// awake yet. What the calls of the slower way cost more is less than a two-hundredth of the time
// between, after the first a fiftieth, which a slow moment may have misled; and half as much each
// time that nothing has changed.
constexpr std::uint64_t calls_between(const RoundTimes& took, std::uint32_t calls,
                                      std::uint32_t confirmed, bool is_first = false) {
  constexpr std::uint64_t kLeast = 128, kMost = std::uint64_t{1} << 40;
  constexpr std::uint32_t kMostDoublings = 6;
  const std::uint64_t share = is_first ? 50 : 200;
  // Means count up to this factor only: an hour's pause in a round must not put the next one off
  // for days.
  constexpr double kMostByMeans = 16;
  const double by_means = std::min(share_lost(took.raw_mean, took.coded_mean), kMostByMeans);
  const double lost = std::max(share_lost(took.raw, took.coded), took.has_means() ? by_means : 0.0);
  const double between = std::min(static_cast<double>(share) * calls * lost, double{kMost});
  return std::max(kLeast, static_cast<std::uint64_t>(between))
         << std::min(confirmed, kMostDoublings);
}

// Between timing rounds one call of so many is timed, the way that all go; where such a timing
// round has come to the same again and again ever fewer. kWatched of them say whether that way
// takes longer by now than the other one did: time for another timing round.
inline constexpr std::uint32_t kWatched = 8;

constexpr std::uint32_t calls_to_a_watched_one(std::uint32_t confirmed) {
  constexpr std::uint32_t kLeast = 32, kMostDoublings = 6;
  return kLeast << std::min(confirmed, kMostDoublings);
}

// The same of a mean: by a quarter, as a link that is slow now and then moves it.
constexpr bool is_overtaken_by_means(std::uint64_t now, const RoundTimes& took, bool is_coded) {
  if (!took.has_means()) return false;
  const std::uint64_t most = is_coded ? took.raw_mean : std::max(took.raw_mean, took.coded_mean);
  return now > most && now - most > most / 4;
}

constexpr bool is_overtaken(std::uint64_t now, const RoundTimes& took, bool is_coded) {
  if (is_coded) return took.raw != 0 && now > took.raw;
  const std::uint64_t most = std::max(took.raw, took.coded);
  return took.coded != 0 && now - std::min(now, most) > most / 20;
}

}  // namespace thinwire::choose
