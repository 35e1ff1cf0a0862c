#include "choose/long_look.h"

#include <algorithm>

#include "choose/message_round.h"

namespace thinwire::choose {
namespace {

constexpr double kFewest = 4, kMost = 32;
constexpr double kFaster = 0.85;
// Looks begin at multiples of this, so that those of several ranks meet.
constexpr std::uint64_t kGrid = 32;
// If messages go raw, a look has to be paid before the first one, too: one that finds nothing makes
// them slower than without us.
constexpr std::uint64_t kLeastPause = 256, kFirstOfRaw = 4096;
constexpr std::uint32_t kMostLooks = 8;

}  // namespace

void LongLook::add(double nanoseconds, bool is_coded, std::uint64_t in_row) {
  if (is_on_) {
    const double usual = usual_.mean();
    if (usual > 0) cost_ += nanoseconds / usual - 1;
    if (is_coded != is_usual_coded_ && in_row > lag()) others_.add(nanoseconds);
    return;
  }
  if (is_coded != is_usual_coded_) usual_ = {};
  is_usual_coded_ = is_coded;
  if (in_row <= lag()) return;
  usual_.add_late(nanoseconds, kMost);
}

bool LongLook::is_due(std::uint64_t position, bool codes, double slower) const {
  if (position % kGrid != 0 || position < due_) return false;
  if (usual_.number() < kFewest || is_usual_coded_ != codes) return false;
  const double paid = kPartOfTime * static_cast<double>(kLag + kTimed) * slower;
  return codes || static_cast<double>(position) >= std::max(paid, double{kFirstOfRaw});
}

void LongLook::begin(std::uint64_t position) {
  is_on_ = true;
  usual_from_ = position + lag() + (looks_ == 0 ? kFirstTimed : kTimed);
  cost_ = 0;
  others_ = {};
}

void LongLook::end(std::uint64_t position) {
  is_on_ = false;
  const std::uint64_t least = std::min(kLeastPause << looks_, kLongestPause);
  looks_ = std::min(looks_ + 1, kMostLooks);
  due_ = end_of_pause(position, pause_of(kPartOfTime * cost_, least, kLongestPause));
}

bool LongLook::is_other_faster() const {
  return others_.number() >= kFirstTimed && others_.mean() <= kFaster * usual_.mean();
}

}  // namespace thinwire::choose
