#include "choose/pay_check.h"

#include <algorithm>
#include <limits>

#include "base/float_mode.h"
#include "choose/constants.h"

namespace thinwire::choose {
namespace {

// The newest attempt's part in the average.
constexpr double kNewest = 0.25;
// One attempt says no more than this: a process that was not running says nothing of the codec.
constexpr double kMostOfOne = 8, kLeastOfOne = 0.125;

}  // namespace

plan::CodecCost Guard::cost(const plan::CodecCost& measured) const {
  return {measured.encode_bytes_per_second / slowdown_,
          measured.decode_bytes_per_second / slowdown_, measured.ratio};
}

bool Guard::takes(double raw_seconds, double coded_seconds) {
  const DefaultFloatMode mode;
  codes_ = coded_seconds < raw_seconds * (codes_ ? 1 : kToBegin);
  if (codes_) {
    credit_ = 0;
    return true;
  }
  credit_ += raw_seconds / kShareOfTries;
  // A cost that was never measured is infinite or NaN here.
  if (!(credit_ >= coded_seconds)) return false;
  credit_ = 0;
  return true;
}

void Guard::took(double predicted_seconds, double seconds) {
  const DefaultFloatMode mode;
  if (!(predicted_seconds > 0) || !(seconds > 0)) return;
  const double factor =
      std::clamp(seconds / predicted_seconds, slowdown_ * kLeastOfOne, slowdown_ * kMostOfOne);
  slowdown_ += kNewest * (factor - slowdown_);
}

double least_ratio_of(double raw_seconds, double codec_seconds) {
  const DefaultFloatMode mode;
  return codec_seconds < raw_seconds ? 1 / (1 - codec_seconds / raw_seconds)
                                     : std::numeric_limits<double>::infinity();
}

}  // namespace thinwire::choose
