#include "choose/slots_gain.h"

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

// No lossless codec was faster on an H200 (docs/results/codecs-on-gpus.md).
constexpr double kHopedBytesPerSecond = 1.2e12;
constexpr double kLaunchSeconds = kStepNanoseconds * 1e-9;
constexpr double kMessageSeconds = kMessageNanoseconds * 1e-9;

}  // namespace

double hoped_gain_seconds(const SlotsWork& work, double link_bytes_per_second, double ratio) {
  const DefaultFloatMode mode;
  if (!(link_bytes_per_second > 0) || !(ratio > 0)) return 0;
  const double raw = work.native / link_bytes_per_second;
  const double coded = work.coded / ratio / link_bytes_per_second +
                       (work.encoded + work.decoded) / kHopedBytesPerSecond +
                       work.launches * kLaunchSeconds + work.messages * kMessageSeconds;
  return raw - coded;
}

}  // namespace thinwire::choose
