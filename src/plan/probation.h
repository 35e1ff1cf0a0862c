// Whether calls of one kind are compressed, from what they took both ways. Pure: whoever measures
// sees to it that all who decide have the same figures.
//
// A probation times some calls as they go now, and then as many the other way. What a stream waits
// for a late rank makes a time too long, never too short; so the least of several counts, and of
// several ranks the one that needs longest.
#pragma once

#include <algorithm>
#include <cstdint>

namespace thinwire::plan {

// The least nanoseconds of each way; 0: none was measured.
struct ProbationTimes {
  std::uint64_t raw = 0;
  std::uint64_t coded = 0;
};

// Calls of each way that a probation times. `span`: as many are enqueued together at the most, as a
// group, whose time is theirs; of three times as many two groups at least are of one way alone.
constexpr std::uint32_t probation_calls(std::uint32_t span) {
  constexpr std::uint32_t kLeast = 8, kMost = 1024;
  return std::clamp(span > kMost ? kMost : 3 * span, kLeast, kMost);
}

// To begin compressing it has to gain a twentieth, to go on not to lose: figures that differ by
// chance do not move a class back and forth.
constexpr bool pays(const ProbationTimes& took, bool is_coded_now) {
  if (took.raw == 0 || took.coded == 0) return false;
  return is_coded_now ? took.coded <= took.raw : took.coded < took.raw - took.raw / 20;
}

// Calls from the end of one probation to the next, where `confirmed` of them in a row have come to
// the same. Few where both take about as long: a first finding may be of a GPU that was not awake
// yet. What the calls of the slower way cost more is less than a two-hundredth of the time
// between, and half as much each time that nothing has changed.
constexpr std::uint64_t calls_between(const ProbationTimes& took, std::uint32_t calls,
                                      std::uint32_t confirmed) {
  constexpr std::uint64_t kLeast = 128, kShare = 200, kMost = std::uint64_t{1} << 40;
  constexpr std::uint32_t kMostDoublings = 6;
  const std::uint64_t less = std::max<std::uint64_t>(std::min(took.raw, took.coded), 1);
  const std::uint64_t more = std::max(took.raw, took.coded);
  const double lost = static_cast<double>(more - std::min(less, more)) / static_cast<double>(less);
  const double between = std::min(static_cast<double>(kShare) * calls * lost, double{kMost});
  return std::max(kLeast, static_cast<std::uint64_t>(between))
         << std::min(confirmed, kMostDoublings);
}

// Between probations one call of so many is timed, the way that all go; where such a probation has
// come to the same again and again ever fewer. The least of kWatched of them says whether that way
// takes longer by now than the other one did: time for another probation.
inline constexpr std::uint32_t kWatched = 8;

constexpr std::uint32_t calls_to_a_watched_one(std::uint32_t confirmed) {
  constexpr std::uint32_t kLeast = 32, kMostDoublings = 6;
  return kLeast << std::min(confirmed, kMostDoublings);
}

constexpr bool is_overtaken(std::uint64_t least, const ProbationTimes& took, bool is_coded) {
  if (is_coded) return took.raw != 0 && least > took.raw;
  const std::uint64_t most = std::max(took.raw, took.coded);
  return took.coded != 0 && least - std::min(least, most) > most / 20;
}

}  // namespace thinwire::plan
