// Whether calls of one kind are compressed, from what they took both ways. Pure: whoever measures
// sees to it that all who decide have the same figures (choose/round_times.h).
//
// A timing round times some calls as they go now, and as many the other way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/checksum.h"
#include "choose/constants.h"
#include "choose/round_times.h"

namespace thinwire::choose {

// A name of the rules below, which ranks must have alike: builds with others compress nothing
// together.
inline constexpr const char* kTimingRules =
    "first rounds by turns, later ones spread, sums too, both ends early, for good after four";

// Calls of each way that a timing round has. `span` is the largest group. A group is timed as a
// whole, so a round has 3 * span calls: at least two whole groups then go the same way.
constexpr std::uint32_t calls_of_round(std::uint32_t span) {
  if (span <= 1) return kTimedAlone;
  return std::clamp(span > kMostTimed ? kMostTimed : 3 * span, kTimedAlone + 1, kMostTimed);
}

// How a call goes in a timing round, by its number there.
struct RoundPosition {
  bool is_timed = false;
  bool is_other_way = false;
};

// Calls alone come in rounds of a power of two of each way, those of groups in longer ones.
constexpr bool are_alone(std::uint32_t calls) {
  return calls <= kTimedAlone && std::has_single_bit(calls);
}

// Later rounds of calls alone take one call of so many.
inline constexpr std::uint32_t kSpread = 4;

// The calls that a later round of calls alone has in all.
constexpr std::uint32_t spread_calls(std::uint32_t calls) { return 2 * calls * kSpread; }

// Returns how the call at `position` of a round goes; rounds are numbered from 1 on.
//
//   calls that are timed          order                        why
//   those of groups               two runs                     a group goes one way as a whole
//   others, in the first round    by turns, as Thue and Morse  soon over, and neither a link that
//                                 have it                      is slow for some calls nor calls
//                                                              that differ by turns favour a way
//   others, later                 one call of four, of two     nothing presses
//                                 such calls one each way
constexpr RoundPosition position_in_round(std::uint64_t position, std::uint64_t round,
                                          std::uint32_t calls) {
  const bool is_early = position < 2 * calls;
  if (!are_alone(calls)) return {is_early, is_early && position >= calls};
  if (round <= 1) return {is_early, is_early && std::popcount(position) % 2 != 0};
  const std::uint64_t part = position / kSpread;
  const auto drawn = [&](std::uint64_t what) { return checksum_mix(checksum_mix(round) + what); };
  const bool is_timed = part < 2 * calls && position % kSpread == drawn(part) % kSpread;
  const bool is_other = (part % 2 == 0) == (drawn(~(part / 2)) % 2 == 0);
  return {is_timed, is_timed && is_other};
}

// True if compressing pays. It has to gain before it begins, and not to lose to go on
// (choose/constants.h). The means, which chance moves more, have to agree: a gain that is taken
// back by calls that now and then take long is none.
constexpr bool pays(const RoundTimes& took, bool is_coded_now) {
  if (took.raw == 0 || took.coded == 0) return false;
  const std::uint64_t most = took.raw - took.raw / kGainToBegin;
  if (!(is_coded_now ? took.coded <= took.raw : took.coded < most)) return false;
  const std::uint64_t chance = is_coded_now ? took.raw_mean / 50 : 0;
  return !took.has_means() || took.coded_mean <= took.raw_mean + chance;
}

// True if compressing gains by so much that a few calls are enough to begin.
constexpr bool surely_pays(const RoundTimes& took) {
  return took.coded != 0 && took.raw / kHopeless > took.coded &&
         (!took.has_means() || took.raw_mean / kHopeless > took.coded_mean);
}

// The time that the slower of two takes longer, as a part of the quicker one's.
constexpr double share_lost(std::uint64_t one, std::uint64_t other) {
  const std::uint64_t less = std::max<std::uint64_t>(std::min(one, other), 1);
  const std::uint64_t more = std::max(one, other);
  return static_cast<double>(more - std::min(less, more)) / static_cast<double>(less);
}

// Calls from the end of one timing round to the next, if `confirmed` of them in a row have come to
// the same. They are few if both ways take about as long: a first finding may be of a GPU that was
// not awake yet. The calls of the slower way cost the share of the time between that
// choose/constants.h allows, and half as much each time that nothing has changed.
constexpr std::uint64_t calls_between(const RoundTimes& took, std::uint32_t calls,
                                      std::uint32_t confirmed, bool is_first = false) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const std::uint64_t share = is_first ? kShareAfterFirst : kShareOfTries;
  // Means count up to this factor only: an hour's pause in a round must not put the next one off
  // for days.
  constexpr double kMostByMeans = 16;
  const double by_means = std::min(share_lost(took.raw_mean, took.coded_mean), kMostByMeans);
  const double lost = std::max(share_lost(took.raw, took.coded), took.has_means() ? by_means : 0.0);
  const double between = std::min(static_cast<double>(share) * calls * lost, double{kMost});
  return std::max(kLeastBetween, static_cast<std::uint64_t>(between))
         << std::min(confirmed, kMostDoublings);
}

// Between timing rounds one call of so many is timed, the way that all go; ever fewer if such a
// round has come to the same again and again. kWatched of them say whether that way takes longer by
// now than the other one did: time for another timing round.
inline constexpr std::uint32_t kWatched = 8;

constexpr std::uint32_t calls_to_a_watched_one(std::uint32_t confirmed) {
  constexpr std::uint32_t kLeast = 32;
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
  return took.coded != 0 && now - std::min(now, most) > most / kGainToBegin;
}

// Both of watched calls; `counts_means`: there are enough of them for that.
constexpr bool is_overtaken(const RoundTimes& now, const RoundTimes& took, bool is_coded,
                            bool counts_means = true) {
  return is_overtaken(now.of(is_coded), took, is_coded) ||
         (counts_means && is_overtaken_by_means(now.mean_of(is_coded), took, is_coded));
}

}  // namespace thinwire::choose
