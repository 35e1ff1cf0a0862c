#include "choose/slots_gain.h"

#include "base/float_mode.h"

namespace thinwire::choose {
namespace {

// No lossless codec was faster on an H200 (docs/results/codecs-on-gpus.md).
constexpr double kHopedBytesPerSecond = 1.2e12;
// A host puts no more steps on a stream, and no more messages in a group of NCCL's, in this time.
constexpr double kLaunchSeconds = 2e-6, kMessageSeconds = 0.2e-6;

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
