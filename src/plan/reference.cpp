#include "plan/reference.h"

#include <algorithm>

#include "base/float_mode.h"

namespace thinwire::plan {
namespace {

// Less is within what a sample may be wrong by.
constexpr double kLeastShare = 1.0 / 64;

}  // namespace

std::uint32_t reference_gain(const ReferenceFacts& facts) {
  const DefaultFloatMode mode;
  const double plain = std::min(facts.ordinary_share, 1.0);
  const double saved = plain - facts.difference_share;
  // A result that is not a number must not count as a win.
  if (!(saved >= kLeastShare)) return 0;
  const double link = facts.link_bytes_per_second;
  if (link > 0 && !(saved / link > facts.seconds_per_byte)) return 0;
  return std::clamp<std::uint32_t>(static_cast<std::uint32_t>(saved * kMostGain), 1, kMostGain);
}

}  // namespace thinwire::plan
