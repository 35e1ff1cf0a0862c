// Whether calls of one kind are compressed, from what they took both ways. Pure: whoever measures
// sees to it that all who decide have the same figures.
//
// A probation times some calls as they go now, and as many the other way. What a stream waits for a
// late rank makes a time too long, never too short; so the least of several count, and of several
// ranks the one that needs longest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checksum_core.h"

namespace thinwire::plan {

// Of the rules below, which ranks have to have alike: builds with others compress nothing together.
inline constexpr const char* kTimingRules = "later rounds spread";

// Nanoseconds of each way; 0: none was measured.
struct ProbationTimes {
  std::uint64_t raw = 0;
  std::uint64_t coded = 0;
};

// Calls of each way that a probation times. `span`: as many are enqueued together at the most, as a
// group, whose time is theirs; of three times as many two groups at least are of one way alone.
inline constexpr std::uint32_t kTimedAlone = 8;  // of calls that no group has
constexpr std::uint32_t probation_calls(std::uint32_t span) {
  constexpr std::uint32_t kMost = 1024;
  if (span <= 1) return kTimedAlone;
  return std::clamp(span > kMost ? kMost : 3 * span, kTimedAlone + 1, kMost);
}

// How a call goes in a probation, by its number there.
struct ProbationPlace {
  bool is_timed = false;
  bool is_other_way = false;
};

// The first probation has two runs, so that it is over soon; so have those of groups. A link that
// is slow for the time of one run makes that way slow, whichever it is. So later probations are
// spread: they take one call of four, at places of their own, and of two such calls one goes the
// other way.
inline constexpr std::uint32_t kSpreadCalls = 64;
constexpr ProbationPlace place_in_probation(std::uint64_t position, std::uint64_t probation,
                                            std::uint32_t calls) {
  constexpr std::uint64_t kOneOf = kSpreadCalls / (2 * kTimedAlone);
  if (probation <= 1 || calls != kTimedAlone) {
    return {position < 2 * calls, position >= calls && position < 2 * calls};
  }
  const std::uint64_t part = position / kOneOf;
  const auto drawn = [&](std::uint64_t what) {
    return checksum_mix(checksum_mix(probation) + what);
  };
  const bool is_timed = part < 2 * calls && position % kOneOf == drawn(part) % kOneOf;
  const bool is_other = (part % 2 == 0) == (drawn(~(part / 2)) % 2 == 0);
  return {is_timed, is_timed && is_other};
}

// What one way takes, of times that are known: the second least of four or more, as one may be
// short by chance; of fewer the least. Calls of a group have nearly one time.
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

// To begin compressing it has to gain a twentieth, to go on not to lose: figures that differ by
// chance do not move a class back and forth.
constexpr bool pays(const ProbationTimes& took, bool is_coded_now) {
  if (took.raw == 0 || took.coded == 0) return false;
  return is_coded_now ? took.coded <= took.raw : took.coded < took.raw - took.raw / 20;
}

// Calls from the end of one probation to the next, where `confirmed` of them in a row have come to
// the same. Few where both take about as long: a first finding may be of a GPU that was not awake
// yet. What the calls of the slower way cost more is less than a two-hundredth of the time
// between, behind the first a fiftieth, which a slow moment may have misled; and half as much each
// time that nothing has changed.
constexpr std::uint64_t calls_between(const ProbationTimes& took, std::uint32_t calls,
                                      std::uint32_t confirmed, bool is_first = false) {
  constexpr std::uint64_t kLeast = 128, kMost = std::uint64_t{1} << 40;
  constexpr std::uint32_t kMostDoublings = 6;
  const std::uint64_t share = is_first ? 50 : 200;
  const std::uint64_t less = std::max<std::uint64_t>(std::min(took.raw, took.coded), 1);
  const std::uint64_t more = std::max(took.raw, took.coded);
  const double lost = static_cast<double>(more - std::min(less, more)) / static_cast<double>(less);
  const double between = std::min(static_cast<double>(share) * calls * lost, double{kMost});
  return std::max(kLeast, static_cast<std::uint64_t>(between))
         << std::min(confirmed, kMostDoublings);
}

// Between probations one call of so many is timed, the way that all go; where such a probation has
// come to the same again and again ever fewer. kWatched of them say whether that way takes longer
// by now than the other one did: time for another probation.
inline constexpr std::uint32_t kWatched = 8;

constexpr std::uint32_t calls_to_a_watched_one(std::uint32_t confirmed) {
  constexpr std::uint32_t kLeast = 32, kMostDoublings = 6;
  return kLeast << std::min(confirmed, kMostDoublings);
}

constexpr bool is_overtaken(std::uint64_t now, const ProbationTimes& took, bool is_coded) {
  if (is_coded) return took.raw != 0 && now > took.raw;
  const std::uint64_t most = std::max(took.raw, took.coded);
  return took.coded != 0 && now - std::min(now, most) > most / 20;
}

}  // namespace thinwire::plan
